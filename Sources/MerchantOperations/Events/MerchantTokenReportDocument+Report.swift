package import MerchantCore
import Vocabulary
package import WireAPI

extension MerchantTokenReportDocument {
    init(_ report: MerchantTokenReport) {
        self.init(report.eventIdentifier, receivedAt: report.receivedAt)
        merchantTokenIdentifier = report.merchantTokenIdentifier
        eventType = report.eventType
        reason = report.reason
        card = report.card.map { MerchantTokenCardDocument($0) }
        mpanIdentifier = report.mpanIdentifier
    }
}

extension MerchantTokenCardDocument {
    package init(_ card: MerchantTokenCard) {
        self.init()
        cardCountry = card.cardCountry
        expirationDate = card.expirationDate
        fpanSuffix = card.fpanSuffix
        longDescription = card.longDescription
        shortDescription = card.shortDescription
        guard !card.cardArt.isEmpty else { return }
        cardArt = card.cardArt.map { CardArt(name: $0.name, type: $0.type, url: $0.url) }
    }
}

import Vocabulary
import WireAPI

extension MerchantTokenDocument {
    var blocks: [Block] {
        let record = Block.record([
            ("token", Cell(merchantTokenIdentifier)),
            ("merchant", Cell(merchantIdentifier)),
            ("state", stateCell),
            ("first seen (UTC)", Cell(time: firstSeenAt)),
            ("last seen (UTC)", Cell(time: lastSeenAt)),
            ("last event", lastEvent.map { Cell($0.eventType) }),
            ("reason", lastEvent.map { Cell($0.reason) }),
            ("notified (UTC)", lastEvent.map { Cell(time: $0.receivedAt) }),
            ("event", lastEvent.map { Cell($0.eventIdentifier) }),
            ("card", card?.shortDescription.map { Cell($0) }),
            ("card description", card?.longDescription.map { Cell($0) }),
            ("card number ends with", card?.fpanSuffix.map { Cell($0) }),
            ("card expires", card?.expirationDate.map { Cell($0) }),
            ("card country", card?.cardCountry.map { Cell($0) }),
            ("notification URL", notificationUrl.map { Cell($0) }),
        ])
        guard let art = card?.cardArt, !art.isEmpty else { return [record] }
        return [
            record,
            .table(
                headings: ["CARD ART", "TYPE", "URL"], rows: art.map { [Cell($0.name), Cell($0.type), Cell($0.url)] }),
        ]
    }

    private var stateCell: Cell { Cell(state, state == "linked" ? .good : .warning) }

    static func table(_ tokens: [MerchantTokenDocument]) -> Block {
        .table(
            headings: [
                "TOKEN", "STATE", "LAST SEEN (UTC)", "LAST EVENT", "CARD", "FIRST SEEN (UTC)", "MERCHANT",
            ],
            rows: tokens.map { token in
                [
                    Cell(token.merchantTokenIdentifier), token.stateCell, Cell(time: token.lastSeenAt),
                    Cell(token.lastEvent?.eventType), Cell(token.card?.fpanSuffix), Cell(time: token.firstSeenAt),
                    Cell(token.merchantIdentifier),
                ]
            }, details: ["FIRST SEEN (UTC)", "CARD", "LAST EVENT"])
    }
}

extension MerchantTokenPublicKeyDocument {
    var blocks: [Block] {
        [
            .record([
                ("token", Cell(merchantTokenIdentifier)),
                ("public key", Cell(merchantTokenPublicKey)),
                ("ciphersuite", Cell(supportedCiphersuite)),
            ])
        ]
    }
}

extension TokenNotificationURLDocument {
    var blocks: [Block] {
        [
            .record([
                ("merchant", Cell(merchantIdentifier)), ("url", Cell(url)), ("created (UTC)", Cell(time: createdAt)),
            ])
        ]
    }

    static func table(_ urls: [TokenNotificationURLDocument]) -> Block {
        .table(headings: ["URL", "CREATED (UTC)"], rows: urls.map { [Cell($0.url), Cell(time: $0.createdAt)] })
    }
}

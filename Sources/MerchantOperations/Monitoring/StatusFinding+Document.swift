import MerchantCore
import Vocabulary
package import WireAPI

extension StatusFinding {
    /// The finding as JSON.
    package var document: StatusDocument.Finding {
        var document = StatusDocument.Finding(severity: severity.rawValue, code: code.rawValue, detail: detail)
        document.count = count
        document.countBySeverity = Dictionary(
            uniqueKeysWithValues: Severity.allCases.map { ($0.rawValue, counts[$0] ?? 0) })
        document.mostUrgent = mostUrgent.isEmpty ? nil : mostUrgent.map(\.document)
        return document
    }
}

extension StatusFinding.Item {
    fileprivate var document: StatusDocument.Finding.Item {
        var document = StatusDocument.Finding.Item(severity: severity.rawValue, detail: detail)
        document.merchantIdentifier = merchantIdentifier
        document.publicKeyHash = publicKeyHash
        return document
    }
}

import MerchantCore
import Vocabulary
package import WireAPI

extension StatusFinding {
    package var document: StatusDocument.Finding {
        StatusDocument.Finding(
            severity: severity.rawValue, code: code.rawValue, detail: detail, count: count,
            countBySeverity: Dictionary(
                uniqueKeysWithValues: Severity.allCases.map { ($0.rawValue, counts[$0] ?? 0) }),
            mostUrgent: mostUrgent.isEmpty ? nil : mostUrgent.map(\.document))
    }
}

extension StatusFinding.Item {
    fileprivate var document: StatusDocument.Finding.Item {
        StatusDocument.Finding.Item(
            severity: severity.rawValue, detail: detail, merchantIdentifier: merchantIdentifier?.rawValue,
            publicKeyHash: publicKeyHash?.base64)
    }
}

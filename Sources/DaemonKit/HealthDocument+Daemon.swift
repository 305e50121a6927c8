import MerchantCore
import MerchantOperations
import MerchantStore
import Vocabulary
import WireAPI

extension HealthDocument {
    /// Not ready where a store takes no writes until a restart: what is asked of it then fails. What may pass by itself, such
    /// as a full disk, is a finding.
    init(of store: MerchantStore, _ operations: MerchantOperations) {
        var reasons: [String] = []
        if case .failed(let error) = store.health { reasons.append(error.detail) }
        if case .failed(let error) = operations.claims.health {
            reasons.append("payment tokens cannot be claimed: \(error.detail)")
        }
        let findings = operations.healthFindings().map {
            StatusDocument.Finding(
                severity: $0.severity.rawValue, code: $0.code.rawValue, detail: $0.detail,
                merchantIdentifier: $0.merchantIdentifier?.rawValue, publicKeyHash: $0.publicKeyHash?.base64)
        }
        self.init(
            live: true, ready: reasons.isEmpty, reasons: reasons, findings: findings.isEmpty ? nil : findings)
    }
}

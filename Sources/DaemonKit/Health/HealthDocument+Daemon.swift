import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension HealthDocument {
    /// Not ready while the key store takes no writes, or claims none until a restart. What else is wrong is a finding.
    init(of store: DaemonHealth, _ operations: MerchantOperations) {
        var reasons = store.storeFinding.map { [$0.detail] } ?? []
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

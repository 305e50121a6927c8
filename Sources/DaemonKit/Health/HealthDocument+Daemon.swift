import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension HealthDocument {
    /// Not ready while the key store takes no writes, or claims none until a restart. What else is wrong is a finding.
    init(of store: DaemonHealth, _ operations: Monitoring) {
        var reasons = store.storeFinding.map { [$0.detail] } ?? []
        if case .failed(let error) = operations.claimsHealth {
            reasons.append("payment tokens cannot be claimed: \(error.detail)")
        }
        self.init(reasons: reasons, findings: operations.healthFindings().aggregated().map(\.document))
    }
}

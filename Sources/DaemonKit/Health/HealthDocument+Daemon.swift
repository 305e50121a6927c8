import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension HealthDocument {
    /// The daemon is not ready while the key store cannot be written, or if the claims file refuses claims until a
    /// restart. All other problems are findings, which do not affect readiness.
    init(of store: DaemonHealth, _ operations: Monitoring) {
        var reasons = store.storeFinding.map { [$0.detail] } ?? []
        if case .failed(let error) = operations.claimsHealth {
            reasons.append("payment tokens cannot be claimed: \(error.detail)")
        }
        self.init(reasons: reasons, findings: operations.healthFindings().aggregated().map(\.document))
    }
}

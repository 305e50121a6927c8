import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension HealthDocument {
    /// The daemon is not ready while it cannot write the database, or if it refuses claims until a restart. Other
    /// problems are only findings, and the daemon is ready in spite of them.
    init(of daemon: DaemonHealth, _ monitoring: Monitoring) {
        var reasons = daemon.storeFinding.map { [$0.detail] } ?? []
        if case .failed(let error) = monitoring.claimsHealth {
            reasons.append("payment tokens cannot be claimed: \(error.detail)")
        }
        self.init(reasons: reasons, findings: monitoring.healthFindings().aggregated().map(\.document))
    }
}

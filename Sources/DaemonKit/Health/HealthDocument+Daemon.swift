import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension HealthDocument {
    /// The daemon is not ready while it cannot write the database. It is not ready either if it must be restarted
    /// before it can record again which payment tokens were used (*claims*). All other problems are only findings.
    init(of daemon: DaemonHealth, _ monitoring: Monitoring) {
        var reasons = daemon.storeFinding.map { [$0.detail] } ?? []
        if case .failed(let error) = monitoring.claimsHealth {
            reasons.append("payment tokens cannot be claimed: \(error.detail)")
        }
        self.init(reasons: reasons, findings: monitoring.healthFindings().aggregated().map(\.document))
    }
}

import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension HealthDocument {
    /// The daemon is not ready while it cannot write the database. It is not ready either while it refuses to record
    /// which payment tokens were used (*claims*). After a failure, this lasts until a restart. With a wrong clock, it
    /// lasts until the clock is less than 30 minutes behind the newest claim. All other problems are only findings.
    init(of daemon: DaemonHealth, _ monitoring: Monitoring) {
        var reasons = daemon.storeFinding.map { [$0.detail] } ?? []
        if case .failed(let error) = monitoring.claimsHealth {
            reasons.append("payment tokens cannot be claimed: \(error.detail)")
        }
        if let behind = monitoring.clockBehindClaims { reasons.append(behind.detail) }
        self.init(reasons: reasons, findings: monitoring.healthFindings().aggregated().map(\.document))
    }
}

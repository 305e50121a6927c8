import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension HealthDocument {
    /// The daemon is not ready while it cannot write the database. It is not ready either while it refuses to record
    /// which payment tokens were used (*claims*): until a restart, or until the machine's clock has passed the newest
    /// claim. All other problems are only findings.
    init(of daemon: DaemonHealth, _ monitoring: Monitoring) {
        var reasons = daemon.storeFinding.map { [$0.detail] } ?? []
        if case .failed(let error) = monitoring.claimsHealth {
            reasons.append("payment tokens cannot be claimed: \(error.detail)")
        }
        if let behind = monitoring.clockBehindClaims { reasons.append(behind.detail) }
        self.init(reasons: reasons, findings: monitoring.healthFindings().aggregated().map(\.document))
    }
}

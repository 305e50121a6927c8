import MerchantCore
import MerchantOperations
import Vocabulary
import WireAPI

extension HealthDocument {
    /// The daemon is not ready while it cannot write the database, or cannot store claims (the records of used payment
    /// tokens). It is also not ready while it refuses claims because the clock is 30 minutes or more behind the newest
    /// claim. All other problems are only findings.
    init(of daemon: DaemonHealth, _ monitoring: Monitoring) {
        var reasons = daemon.storeFinding.map { [$0.detail] } ?? []
        switch monitoring.claimsHealth {
        case .ready: break
        case .impaired(let error, _), .failed(let error):
            reasons.append("payment tokens cannot be claimed: \(error.detail)")
        }
        if let behind = monitoring.clockBehindClaims { reasons.append(behind.detail) }
        self.init(reasons: reasons, findings: monitoring.healthFindings().aggregated().map(\.document))
    }
}

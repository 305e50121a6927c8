import MerchantCore
import MerchantOperations
import SQLiteStore

/// Whether the key store does all it is for, and what else the daemon found out about itself: for health and status.
struct DaemonHealth: Sendable {
    private static let reading = "keys are still resolved and tokens decrypted, as far as the database can be read"

    let store: SQLiteStore
    let conditions: ConditionLog

    var findings: [StatusFinding] { (storeFinding.map { [$0] } ?? []) + conditions.all }

    var storeFinding: StatusFinding? {
        switch store.health {
        case .ready: nil
        case .impaired(let error, let since):
            StatusFinding(
                severity: .critical, code: .storeFailing,
                detail: "nothing could be written since \(since), \(Self.reading): \(error.detail)")
        case .failed(let error):
            StatusFinding(severity: .critical, code: .storeFailing, detail: "\(error.detail); \(Self.reading)")
        }
    }
}

import MerchantCore
import MerchantOperations
import SQLiteStore

/// The findings about the key store and those of the services, for health and status.
struct DaemonHealth: Sendable {
    private static let reading = "keys are still resolved and tokens decrypted if the database can be read"

    let store: SQLiteStore
    let conditions: ConditionLog

    var findings: [StatusFinding] { (storeFinding.map { [$0] } ?? []) + conditions.all }

    var storeFinding: StatusFinding? {
        switch store.health {
        case .ready: nil
        case .impaired(let error, let since):
            StatusFinding(
                severity: .critical, code: .storeFailing,
                detail: "writes have failed since \(since): \(error.detail); \(Self.reading)")
        case .failed(let error):
            StatusFinding(severity: .critical, code: .storeFailing, detail: "\(error.detail); \(Self.reading)")
        }
    }
}

import MerchantCore
import MerchantOperations

/// The findings about the store, and those in ``ActiveFindings``. `status` and the health route also report other
/// findings.
struct DaemonHealth: Sendable {
    private static let whatStillWorks =
        "the daemon still answers requests for keys and decrypts tokens if the database can be read"

    let store: any StoreHealthReporting
    let activeFindings: ActiveFindings

    var findings: [StatusFinding] { (storeFinding.map { [$0] } ?? []) + activeFindings.all }

    /// The finding that the database cannot be written; nil if it can be written.
    var storeFinding: StatusFinding? {
        switch store.health {
        case .ready: nil
        case .impaired(let error, let since):
            StatusFinding(
                severity: .critical, code: .storeFailing,
                detail: "writes have failed since \(since): \(error.detail); \(Self.whatStillWorks)")
        case .failed(let error):
            StatusFinding(severity: .critical, code: .storeFailing, detail: "\(error.detail); \(Self.whatStillWorks)")
        }
    }
}

import Logging
import MerchantCore
import SQLiteStore

/// The database file of the claims, which record which payments were taken. If the file cannot be used, the daemon
/// refuses to claim payments. Everything else works: keys are resolved, and `status` and health report the failure.
struct ClaimsFile {
    /// Records claims; refuses them if the file cannot be used.
    let ledger: any ClaimLedger
    /// The open file; nil if it cannot be used.
    private let store: ClaimStore?

    init(path: String, clock: some WallClock, logger: Logger) {
        do {
            let store = try ClaimStore.open(path: path, clock: clock)
            self.store = store
            ledger = store
        } catch {
            let reason = error as? MerchantError ?? MerchantError(.storeUnavailable, "\(error)")
            logger.critical(
                "payment tokens cannot be claimed: the daemon refuses decryptions that claim until the claims file is repaired or moved away and the daemon restarted",
                metadata: ["path": "\(path)", "error": "\(reason.detail)"])
            store = nil
            ledger = RefusingLedger(
                because: MerchantError(
                    .storeUnavailable,
                    "the claims file '\(path)' cannot be used: \(reason.detail); repair it or move it away, then restart the daemon"
                ))
        }
    }

    func close() throws { try store?.close() }
}

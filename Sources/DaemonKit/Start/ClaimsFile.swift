import Logging
import MerchantCore
import SQLiteStore

/// The database file of the claims. A claim records that a payment token, or a nonce of in-app provisioning, was used,
/// so that the daemon refuses a second use. If the file cannot be used, the daemon refuses requests that must record a
/// claim, and answers all others.
struct ClaimsFile {
    /// Records claims; refuses them if the file cannot be used.
    let ledger: any ClaimLedger & NonceLedger
    /// The open file; nil if it cannot be used.
    let store: ClaimStore?

    init(path: String, clock: some WallClock, logger: Logger) {
        do {
            let store = try ClaimStore.open(path: path, clock: clock)
            self.store = store
            ledger = store
        } catch {
            let reason = error as? MerchantError ?? MerchantError(.storeUnavailable, "\(error)")
            logger.critical(
                "payment tokens cannot be claimed: the claims file cannot be used; until the daemon is restarted with a usable file, it refuses decryptions that claim the token",
                metadata: ["path": "\(path)", "error": "\(reason.detail)"])
            store = nil
            ledger = RefusingLedger(
                because: MerchantError(
                    .storeUnavailable,
                    "the claims file '\(path)' cannot be used: \(reason.detail); the daemon opens the file only when it starts"
                ))
        }
    }
}

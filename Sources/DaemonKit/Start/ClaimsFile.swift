import Glibc
import Logging
import MerchantCore
import MerchantStore

/// The claims' own file. Whatever is wrong with it stops claims and nothing else: keys are resolved, as payments need,
/// while `status` and health tell of it.
struct ClaimsFile {
    let ledger: any ClaimLedger
    private let store: ClaimStore?

    /// - Parameter isExpected: whether the daemon ran here before, so that the file should be there.
    init(path: String, isExpected: Bool, clock: some WallClock, logger: Logger) {
        if isExpected, access(path, F_OK) != 0 {
            logger.warning(
                "the file of claims is not here: a new, empty one is made; tokens claimed in the last ten minutes can be claimed once more, so hold those payments' transactionIds against your own records",
                metadata: ["path": "\(path)"])
        }
        do {
            let store = try ClaimStore.open(path: path, clock: clock)
            self.store = store
            ledger = store
        } catch {
            let reason = error as? MerchantError ?? MerchantError(.storeUnavailable, "\(error)")
            logger.critical(
                "payment tokens cannot be claimed: every decryption that claims is refused until the file is put right or moved away and the daemon restarted",
                metadata: ["path": "\(path)", "error": "\(reason.detail)"])
            store = nil
            ledger = RefusingLedger(
                because: MerchantError(
                    .storeUnavailable,
                    "the file of claims '\(path)' cannot be used: \(reason.detail); put it right or move it away, then restart the daemon"
                ))
        }
    }

    func close() throws { try store?.close() }
}

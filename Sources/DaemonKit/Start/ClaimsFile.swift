import Glibc
import Logging
import MerchantCore
import SQLiteStore

/// The claims' own file. Whatever is wrong with it stops claims and nothing else: keys are resolved, as payments need,
/// while `status` and health tell of it.
struct ClaimsFile {
    let ledger: any ClaimLedger
    private let store: ClaimStore?

    /// - Parameters:
    ///   - isExpected: whether the daemon ran here before, so that the file should be there.
    ///   - wasLeftOpen: whether the last daemon did not end in order, so that the newest claims are in the file's log.
    init(path: String, isExpected: Bool, wasLeftOpen: Bool, clock: some WallClock, logger: Logger) {
        let loss: String? =
            if isExpected, access(path, F_OK) != 0 {
                "the file of claims is not here: a new, empty one is made"
            } else if isExpected, wasLeftOpen, access(path + "-wal", F_OK) != 0 {
                "the last daemon here did not end in order, and the write-ahead log of the file of claims is not here"
            } else { nil }
        if let loss {
            logger.warning(
                "\(loss); tokens claimed in the last ten minutes can be claimed once more, so hold those payments' transactionIds against your own records",
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

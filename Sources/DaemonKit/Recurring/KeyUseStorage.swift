import Logging
import MerchantCore
import MerchantOperations

/// Stores which keys decryptors have requested and used. A crash loses what happened since the last round.
struct KeyUseStorage: RecurringTask {
    let operations: KeyUseRecording
    let caller: Caller
    let logger: Logger

    func run() async { await store() }

    func finish() async { await store() }

    /// Uses that could not be stored stay in memory for the next round.
    private func store() async {
        do { try await operations.storeUses(as: caller) } catch {
            logger.error("uses of keys could not be stored", metadata: ["error": "\(error)"])
        }
    }
}

import Logging
import MerchantCore
import MerchantOperations

/// Stores when decryptors have requested and used each key. A crash loses the uses since the last round.
struct KeyUseStorage: RecurringTask {
    let operations: KeyUseRecording
    let nodes: any NodeDirectory
    let caller: Caller
    let logger: Logger

    func run() async { await store() }

    func finish() async { await store() }

    /// If the uses cannot be stored, they stay in memory for the next round.
    private func store() async {
        let begin = ContinuousClock.now
        do { try await operations.storeUses(as: caller) } catch {
            return logger.error("uses of keys could not be stored", metadata: ["error": "\(error)"])
        }
        do { try await nodes.recordUsesStored(ago: ContinuousClock.now - begin) } catch {
            logger.error(
                "the time at which uses of keys were stored could not be recorded; until it is recorded, other daemons refuse to finish rolls",
                metadata: ["error": "\(error)"])
        }
    }
}

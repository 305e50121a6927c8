import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Stores what decryptors' requests showed of keys' uses; a crash loses what came since, 3 seconds at most.
struct UseKeeping: Service {
    static let interval = Duration.seconds(3)

    let operations: KeyUseRecording
    let caller: Caller
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try await Task.sleep(for: Self.interval)
                await store()
            }
        }
        await store()
    }

    /// What could not be stored is kept for the next time.
    private func store() async {
        do { try await operations.storeUses(as: caller) } catch {
            logger.error("observed uses could not be stored", metadata: ["error": "\(error)"])
        }
    }
}

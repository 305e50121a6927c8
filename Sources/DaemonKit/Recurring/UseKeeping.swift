import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Stores the key uses that decryptors' requests showed. A crash loses at most the last 3 seconds.
struct UseKeeping: Service {
    static let interval = Duration.seconds(3)

    let operations: MerchantOperations
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

    /// Uses that could not be stored are kept for the next attempt.
    private func store() async {
        do { try await operations.storeUses(as: caller) } catch {
            logger.error("observed uses could not be stored", metadata: ["error": "\(error)"])
        }
    }
}

import Logging
import MerchantOperations
import ServiceLifecycle

/// Removes events that are older than the settings keep them, once an hour.
struct EventSweep: Service {
    static let interval = Duration.seconds(3_600)

    let operations: EventOperations
    let age: Duration
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    let count = try await operations.removeEvents(olderThan: age)
                    if count > 0 { logger.info("old events removed", metadata: ["count": "\(count)"]) }
                } catch {
                    logger.error("removal of old events failed", metadata: ["error": "\(error)"])
                }
                try await Task.sleep(for: Self.interval)
            }
        }
    }
}

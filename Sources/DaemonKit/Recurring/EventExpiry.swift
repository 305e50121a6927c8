import Logging
import MerchantCore
import MerchantOperations

/// Removes events that are older than `events.retention-days`, unless a delivery to a webhook is pending.
struct EventExpiry: RecurringTask {
    let operations: EventOperations
    let retention: CurrentValue<Duration>
    let logger: Logger

    func run() async {
        do {
            let count = try await operations.removeEvents(olderThan: retention.value)
            if count > 0 { logger.info("old events removed", metadata: ["count": "\(count)"]) }
        } catch {
            logger.error("removal of old events failed", metadata: ["error": "\(error)"])
        }
    }
}

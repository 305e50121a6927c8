import Logging
import MerchantCore
import MerchantOperations

/// Removes notifications of merchant tokens that are no longer needed to detect repeated notifications.
struct TokenNotificationExpiry: RecurringTask {
    let operations: TokenEventFetching
    let logger: Logger

    func run() async {
        do {
            let count = try await operations.removeClosedNotifications()
            if count > 0 {
                logger.debug("old notifications of merchant tokens removed", metadata: ["count": "\(count)"])
            }
        } catch {
            logger.error("removal of old notifications of merchant tokens failed", metadata: ["error": "\(error)"])
        }
    }
}

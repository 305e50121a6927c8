import Logging
import MerchantOperations

/// Removes the portal's sessions that have expired, and old logins.
struct SessionExpiry: RecurringTask {
    let operations: PortalSessionOperations
    let logger: Logger

    func run() async {
        do {
            let count = try await operations.removeExpired()
            if count > 0 { logger.debug("ended sessions removed", metadata: ["count": "\(count)"]) }
        } catch {
            logger.error("removal of ended sessions failed", metadata: ["error": "\(error)"])
        }
    }
}

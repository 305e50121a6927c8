import Logging
import MerchantOperations

/// Stores an `auditHead` event with the current audit head if the head has changed. Webhooks send the event to other
/// machines.
struct HeadEvents: RecurringTask {
    let operations: AuditOperations
    let logger: Logger

    func run() async {
        do { try await operations.reportHead() } catch {
            logger.error("the event auditHead could not be stored", metadata: ["error": "\(error)"])
        }
    }
}

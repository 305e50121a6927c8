import Logging
import MerchantCore
import MerchantOperations

/// Stores an `auditHead` event with the current audit head if the head has changed. Webhooks send the event to other
/// machines.
struct HeadEvents: RecurringTask {
    let operations: AuditOperations
    let logger: Logger
    private var last: AuditHead?

    init(operations: AuditOperations, logger: Logger) {
        self.operations = operations
        self.logger = logger
    }

    mutating func run() async {
        do {
            guard let head = try await operations.head(), head != last else { return }
            try await operations.reportHead(head)
            last = head
        } catch {
            logger.error("the event auditHead could not be stored", metadata: ["error": "\(error)"])
        }
    }
}

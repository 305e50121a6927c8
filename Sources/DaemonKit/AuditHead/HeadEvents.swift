import Logging
import MerchantCore
import MerchantOperations

/// Stores an event with the audit's head where the head changed, so that webhooks carry it off the machine.
struct HeadEvents: RecurringTask {
    let operations: MerchantOperations
    let logger: Logger
    private var last: AuditHead?

    init(operations: MerchantOperations, logger: Logger) {
        self.operations = operations
        self.logger = logger
    }

    mutating func run() async {
        do {
            guard let head = try await operations.repository.read({ try $0.auditHead() }), head != last else { return }
            try await operations.tellAuditHead(head)
            last = head
        } catch {
            logger.error("the event auditHead could not be stored", metadata: ["error": "\(error)"])
        }
    }
}

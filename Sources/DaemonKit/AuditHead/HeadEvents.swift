import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Reports the audit's head in an event at an interval, if it changed. Webhooks take it off the machine.
struct HeadEvents: Service {
    /// Nil: no events.
    let every: Duration?
    let operations: MerchantOperations
    let logger: Logger

    func run() async throws {
        guard let every else { return try await gracefulShutdown() }
        try? await cancelWhenGracefulShutdown {
            var reported: AuditHead?
            while !Task.isCancelled {
                await report(&reported)
                try await Task.sleep(for: every)
            }
        }
    }

    private func report(_ reported: inout AuditHead?) async {
        do {
            guard let head = try await operations.repository.read({ try $0.auditHead() }), head != reported else {
                return
            }
            try await operations.tellAuditHead(head)
            reported = head
        } catch {
            logger.error("the audit's head could not be reported in an event", metadata: ["error": "\(error)"])
        }
    }
}

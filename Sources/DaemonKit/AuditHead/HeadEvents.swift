import Logging
import MerchantCore
import MerchantOperations
import ServiceLifecycle

/// Tells the audit's head in an event at an interval, where it changed: webhooks take it off the machine.
struct HeadEvents: Service {
    /// nil: none is told.
    let every: Duration?
    let operations: AuditOperations
    let logger: Logger

    func run() async throws {
        guard let every else { return try await gracefulShutdown() }
        try? await cancelWhenGracefulShutdown {
            var told: AuditHead?
            while !Task.isCancelled {
                await tell(&told)
                try await Task.sleep(for: every)
            }
        }
    }

    private func tell(_ told: inout AuditHead?) async {
        do {
            guard let head = try await operations.head(), head != told else { return }
            try await operations.reportHead(head)
            told = head
        } catch {
            logger.error("the audit's head could not be told", metadata: ["error": "\(error)"])
        }
    }
}

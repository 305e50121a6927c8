import Logging
import MerchantCore
import MerchantOperations
import MerchantStore
import ServiceLifecycle

/// Takes the audit's head to where the database is not, at the start, at an interval and at the end: by it, records that
/// were cut off and older copies that were put back show.
struct HeadShipping: Service {
    let settings: Settings.AuditHeadSettings
    let store: MerchantStore
    let clock: any WallClock
    let conditions: ConditionBoard
    let logger: Logger

    func run() async throws {
        guard settings.file != nil || settings.syslog != nil else { return try await gracefulShutdown() }
        var shipped: AuditHead?
        while !Task.isShuttingDownGracefully {
            await ship(&shipped)
            // A daemon that stops cancels the wait.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: settings.every) }
        }
        await ship(&shipped)
    }

    private func ship(_ shipped: inout AuditHead?) async {
        do {
            guard let head = try await store.read({ try $0.auditHead() }), head != shipped else { return }
            if let file = settings.file { try HeadFile(path: file).append(head, at: clock.now) }
            if let syslog = settings.syslog { try SyslogSocket(path: syslog).tell(head) }
            shipped = head
            conditions.clear(.auditHeadNotShipped)
        } catch {
            logger.error("the audit's head could not be shipped", metadata: ["error": "\(error)"])
            conditions.set(.auditHeadNotShipped, .warning, "the audit's head was not shipped: \(error)")
        }
    }
}

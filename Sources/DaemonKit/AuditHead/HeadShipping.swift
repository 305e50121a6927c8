import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import ServiceLifecycle
import Synchronization

/// Ships the audit's head outside the database, at the start, at an interval and at the shutdown. Removed records and older copies
/// of the database can be detected with it.
struct HeadShipping: Service {
    /// A destination that takes longer is reported as hanging.
    private static let timeout = Duration.seconds(30)

    let settings: AuditHeadSettings
    let store: SQLiteStore
    let clock: any WallClock
    let conditions: ConditionLog
    let logger: Logger

    /// A destination that cannot be written does not delay the others.
    private struct Destination {
        let send: (AuditHead) throws -> Void
        var shipped: AuditHead?
    }

    func run() async throws {
        var destinations = destinations
        guard !destinations.isEmpty else { return try await gracefulShutdown() }
        let current = CurrentShipment()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await watch(current) }
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                await ship(&destinations, current)
                // A shutdown cancels the wait.
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: settings.every) }
            }
            await ship(&destinations, current)
            group.cancelAll()
        }
    }

    private var destinations: [Destination] {
        var destinations: [Destination] = []
        if let path = settings.file {
            destinations.append(Destination { try HeadFile(path: path).append($0, at: clock.now) })
        }
        if let path = settings.syslog {
            destinations.append(Destination { try SyslogSocket(path: path).send($0) })
        }
        return destinations
    }

    private func ship(_ destinations: inout [Destination], _ current: CurrentShipment) async {
        do {
            guard let head = try await store.read({ try $0.auditHead() }) else { return }
            current.start.withLock { $0 = .now }
            defer { current.start.withLock { $0 = nil } }
            var failures: [String] = []
            for index in destinations.indices where destinations[index].shipped != head {
                do {
                    try destinations[index].send(head)
                    destinations[index].shipped = head
                } catch { failures.append("\(error)") }
            }
            guard failures.isEmpty else { return report(failures.joined(separator: "; ")) }
            conditions.clear(.auditHeadNotShipped)
        } catch { report("\(error)") }
    }

    private func report(_ why: String) {
        logger.error("the audit's head could not be shipped", metadata: ["error": "\(why)"])
        conditions.set(.auditHeadNotShipped, .warning, "the audit's head was not shipped: \(why)")
    }

    // MARK: - A destination that hangs

    private final class CurrentShipment: Sendable {
        /// When it started; nil while there is none.
        let start = Mutex<ContinuousClock.Instant?>(nil)
    }

    /// Reports a shipment that hangs. Nothing else would, until the daemon is shut down.
    private func watch(_ current: CurrentShipment) async {
        while !Task.isCancelled {
            if let start = current.start.withLock({ $0 }), start + Self.timeout < .now {
                report(
                    "the write has taken \((.now - start).components.seconds) seconds; check the disk or network of \(settings.file ?? settings.syslog ?? "the destination")"
                )
            }
            try? await Task.sleep(for: Self.timeout)
        }
    }
}

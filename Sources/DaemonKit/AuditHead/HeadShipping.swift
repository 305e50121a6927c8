import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import ServiceLifecycle
import Synchronization

/// Takes the audit's head to where the database is not, at the start, at an interval and at the end: by it, records that
/// were cut off and older copies that were put back show.
struct HeadShipping: Service {
    /// A place that takes longer hangs.
    private static let patience = Duration.seconds(30)

    let settings: AuditHeadSettings
    let store: SQLiteStore
    let clock: any WallClock
    let conditions: ConditionLog
    let logger: Logger

    /// Where heads go, each for itself: one that cannot be written holds up no other.
    private struct Place {
        let take: (AuditHead) throws -> Void
        var shipped: AuditHead?
    }

    func run() async throws {
        var places = places
        guard !places.isEmpty else { return try await gracefulShutdown() }
        let begun = Begun()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await watch(begun) }
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                await ship(&places, begun)
                // A daemon that stops cancels the wait.
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: settings.every) }
            }
            await ship(&places, begun)
            group.cancelAll()
        }
    }

    private var places: [Place] {
        var places: [Place] = []
        if let path = settings.file {
            places.append(Place { try HeadFile(path: path).append($0, at: clock.now) })
        }
        if let path = settings.syslog {
            places.append(Place { try SyslogSocket(path: path).tell($0) })
        }
        return places
    }

    private func ship(_ places: inout [Place], _ begun: Begun) async {
        do {
            guard let head = try await store.read({ try $0.auditHead() }) else { return }
            begun.moment.withLock { $0 = .now }
            defer { begun.moment.withLock { $0 = nil } }
            var failures: [String] = []
            for index in places.indices where places[index].shipped != head {
                do {
                    try places[index].take(head)
                    places[index].shipped = head
                } catch { failures.append("\(error)") }
            }
            guard failures.isEmpty else { return complain(failures.joined(separator: "; ")) }
            conditions.clear(.auditHeadNotShipped)
        } catch { complain("\(error)") }
    }

    private func complain(_ why: String) {
        logger.error("the audit's head could not be shipped", metadata: ["error": "\(why)"])
        conditions.set(.auditHeadNotShipped, .warning, "the audit's head was not shipped: \(why)")
    }

    // MARK: - A place that hangs

    /// When the present shipment began; nil between two.
    private final class Begun: Sendable {
        let moment = Mutex<ContinuousClock.Instant?>(nil)
    }

    /// Tells of a shipment that does not end: nothing else would, until the daemon is told to stop.
    private func watch(_ begun: Begun) async {
        while !Task.isCancelled {
            if let moment = begun.moment.withLock({ $0 }), moment + Self.patience < .now {
                complain(
                    "it is being written for \((.now - moment).components.seconds) seconds: the disk or network behind \(settings.file ?? settings.syslog ?? "it") hangs"
                )
            }
            try? await Task.sleep(for: Self.patience)
        }
    }
}

import Logging
import MerchantCore
import MerchantOperations
import SQLiteStore
import Synchronization

/// Copies the audit's head, which is the number and hash of the last audit record, to a file and to syslog, at the
/// start, at an interval and at shutdown. A comparison with such a copy shows whether audit records were removed or an
/// older copy of the database was put back.
struct HeadShipping: RecurringTask {
    private let store: SQLiteStore
    private let conditions: ConditionLog
    private let logger: Logger
    private var targets: [Target]
    let progress = Progress()

    /// A file or socket that heads are written to. A failure of one does not affect the others.
    private struct Target {
        let write: @Sendable (AuditHead) throws -> Void
        /// The last head that was written.
        var shipped: AuditHead?
    }

    /// When the shipment in progress began; nil if none is in progress.
    final class Progress: Sendable {
        let begunAt = Mutex<ContinuousClock.Instant?>(nil)
    }

    /// - Returns: nil if the settings name no target.
    init?(
        settings: AuditHeadSettings, store: SQLiteStore, clock: any WallClock, conditions: ConditionLog,
        logger: Logger
    ) {
        self.store = store
        self.conditions = conditions
        self.logger = logger
        targets = []
        if let path = settings.file {
            targets.append(Target { try HeadFile(path: path).append($0, at: clock.now) })
        }
        if let path = settings.syslog {
            targets.append(Target { try SyslogSocket(path: path).send($0) })
        }
        if targets.isEmpty { return nil }
    }

    mutating func run() async { await ship() }

    mutating func finish() async { await ship() }

    private mutating func ship() async {
        do {
            guard let head = try await store.read({ try $0.auditHead() }) else { return }
            progress.begunAt.withLock { $0 = .now }
            defer { progress.begunAt.withLock { $0 = nil } }
            var failures: [String] = []
            for index in targets.indices where targets[index].shipped != head {
                do {
                    try targets[index].write(head)
                    targets[index].shipped = head
                } catch { failures.append("\(error)") }
            }
            guard failures.isEmpty else { return report(failures.joined(separator: "; ")) }
            conditions.clear(.auditHeadNotShipped)
        } catch { report("\(error)") }
    }

    private func report(_ reason: String) {
        conditions.reportHeadNotShipped(reason, logger)
    }
}

/// Reports a shipment that does not end because a disk or network hangs.
struct HeadShippingWatch: RecurringTask {
    /// A shipment that takes longer is reported.
    static let patience = Duration.seconds(30)

    let progress: HeadShipping.Progress
    let settings: AuditHeadSettings
    let conditions: ConditionLog
    let logger: Logger

    func run() async {
        guard let begunAt = progress.begunAt.withLock({ $0 }), begunAt + Self.patience < .now else { return }
        conditions.reportHeadNotShipped(
            "writing it has taken \((.now - begunAt).components.seconds) seconds: the disk or network behind \(settings.file ?? settings.syslog ?? "the target") hangs",
            logger)
    }
}

extension ConditionLog {
    fileprivate func reportHeadNotShipped(_ reason: String, _ logger: Logger) {
        logger.error("the audit's head could not be shipped", metadata: ["error": "\(reason)"])
        set(.auditHeadNotShipped, .warning, "the audit's head was not shipped: \(reason)")
    }
}

import Logging
import MerchantCore
import MerchantOperations
import Synchronization

/// Writes the audit head, which is the number and hash of the last audit record, to a file and to syslog. Does this at
/// the start, and if the head has changed, also at an interval and at a shutdown. A later start compares the database
/// with the file, and so detects removed audit records or an older copy of the database.
struct HeadShipping: RecurringTask {
    private let operations: AuditOperations
    private let activeFindings: ActiveFindings
    private let logger: Logger
    private var targets: [Target]
    let progress = Progress()

    /// The file or the syslog socket that heads are written to. If one of the two fails, the other still gets heads.
    private struct Target {
        let write: @Sendable (AuditHead) throws -> Void
        /// The last head that this process wrote to the target; nil if it has written none.
        var lastWritten: AuditHead?
    }

    /// Shared with ``HeadShippingWatch``.
    final class Progress: Sendable {
        /// When the write in progress began; nil if no write is in progress.
        let begunAt = Mutex<ContinuousClock.Instant?>(nil)
    }

    /// - Returns: nil if the settings name no target.
    init?(
        settings: AuditHeadSettings, operations: AuditOperations, clock: any WallClock, activeFindings: ActiveFindings,
        logger: Logger
    ) {
        self.operations = operations
        self.activeFindings = activeFindings
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
            guard let head = try await operations.head() else { return }
            progress.begunAt.withLock { $0 = .now }
            defer { progress.begunAt.withLock { $0 = nil } }
            var failures: [String] = []
            for index in targets.indices where targets[index].lastWritten != head {
                do {
                    try targets[index].write(head)
                    targets[index].lastWritten = head
                } catch { failures.append("\(error)") }
            }
            guard failures.isEmpty else { return report(failures.joined(separator: "; ")) }
            activeFindings.clear(.auditHeadNotShipped)
        } catch { report("\(error)") }
    }

    private func report(_ reason: String) {
        activeFindings.reportHeadNotShipped(reason, logger)
    }
}

/// Reports a problem if ``HeadShipping`` has not finished writing a head within ``timeLimit``, because a disk or
/// network hangs.
struct HeadShippingWatch: RecurringTask {
    static let timeLimit = Duration.seconds(30)

    let progress: HeadShipping.Progress
    let settings: AuditHeadSettings
    let activeFindings: ActiveFindings
    let logger: Logger

    func run() async {
        guard let begunAt = progress.begunAt.withLock({ $0 }), begunAt + Self.timeLimit < .now else { return }
        activeFindings.reportHeadNotShipped(
            "the write has taken \((.now - begunAt).components.seconds) seconds: the disk or network behind \(settings.file ?? settings.syslog ?? "the target") hangs",
            logger)
    }
}

extension ActiveFindings {
    fileprivate func reportHeadNotShipped(_ reason: String, _ logger: Logger) {
        logger.error("the audit head could not be written to its file or to syslog", metadata: ["error": "\(reason)"])
        set(.auditHeadNotShipped, .warning, "the audit head was not written to its file or to syslog: \(reason)")
    }
}

import EventDelivery
import Logging
import MerchantCore
import MerchantOperations
import Synchronization
import Vocabulary

/// Records the start in the audit, with what happened to the database since the last one, and who gets events from now on.
///
/// A disk that is full at the start keeps no payment waiting: keys are resolved, and the record is made up for.
final class StartRecord: Sendable {
    /// How long status shows that the database is older than it was.
    static let showsOlder = Duration.seconds(86_400)

    private let operations: Operations
    private let settings: Settings
    private let lock: InstanceLock
    private let caller: Caller
    private let conditions: ConditionLog
    private let logger: Logger
    private let history = Mutex<[(action: AuditAction, reason: String)]>([])
    private let isRecorded = Atomic(false)
    private let isMade = Atomic(false)

    init(
        operations: Operations, settings: Settings, lock: InstanceLock, caller: Caller,
        conditions: ConditionLog, logger: Logger
    ) {
        self.operations = operations
        self.settings = settings
        self.lock = lock
        self.caller = caller
        self.conditions = conditions
        self.logger = logger
    }

    /// - Throws: ``SettingsError`` where the database is older than it was and that was not accepted, or where permits have
    ///   changed and the audit cannot be written.
    func make(acceptsOlder: Bool) async throws {
        let restored = try await operations.start.restored()
        // A restored database is older, and is recorded as that.
        if restored.isEmpty, let older = try await DatabaseHistory.olderThanShipped(settings, operations.audit, logger)
        {
            guard acceptsOlder else { throw SettingsError(DatabaseHistory.refusal([older])) }
            try lock.keep([older.found])
        }
        var losses = lock.unrecordedLosses
        if restored.isEmpty, losses.isEmpty, let missing = try await missingRecords() {
            logger.error("\(missing)")
            losses = [missing]
            // Else the record of this would be measured by what is missing.
            try lock.forgetDatabase()
        }
        history.withLock { history in
            if !restored.isEmpty { history.append((.databaseRestored, restored)) }
            history += losses.map { (.olderDatabaseAccepted, $0) }
        }
        if await !makeUp(), try await !operations.start.knowsPermits(settings.policy) {
            throw SettingsError(
                "the callers' permits have changed and the audit cannot be written: make room, or start with the permits as they were"
            )
        }
    }

    /// An older copy, or a chain without its end, is seen without a shipped head too. No reason to refuse: what tells of it lies
    /// beside the database, and goes or comes with it.
    private func missingRecords() async throws -> String? {
        guard let head = lock.found.head?.end, let found = try await operations.audit.difference(from: head) else {
            return nil
        }
        return
            "the database is not as the last daemon here left it (\(found.detail)); no head was shipped, so the start was not refused: if that was not meant, stop, put the newer one back or restore a backup"
    }

    /// - Returns: whether the start is on record now.
    func makeUp() async -> Bool {
        guard !isMade.load(ordering: .acquiring) else { return true }
        do {
            // Harmless to repeat, so it comes first: the start is on record once.
            try await operations.deliveries.keepWebhooks(settings.events.webhooks.map(\.registration))
            if !isRecorded.load(ordering: .acquiring) {
                if !history.withLock({ $0.isEmpty }) {
                    try await operations.start.restartWaitingTimes()
                }
                try await operations.start.recordStart(
                    as: caller, version: Program.version, policy: settings.policy, history: history.withLock { $0 })
                isRecorded.store(true, ordering: .releasing)
            }
            try lock.set { $0.unrecordedLosses = [] }
            try await forgetRestore()
            isMade.store(true, ordering: .releasing)
            try await showOlder()
            return true
        } catch {
            logger.error("the start could not be recorded", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// The head of a restored database takes the place of the newer one before the restore is forgotten: a start that is cut
    /// short in between is not refused the next time.
    private func forgetRestore() async throws {
        guard !history.withLock({ $0.isEmpty }) else { return }
        let head = try await operations.audit.head()
        if let file = settings.auditHead.file, let head {
            do { try HeadFile(path: file).append(head, at: operations.start.now) } catch {
                logger.error("the audit's head could not be shipped", metadata: ["error": "\(error)"])
                return
            }
        }
        try await operations.start.forgetRestore()
    }

    private func showOlder() async throws {
        guard let (since, undone) = try await operations.start.olderDatabase(),
            operations.start.now < since.adding(Self.showsOlder)
        else { return }
        conditions.set(
            .databaseRestored, .warning,
            "an older database was taken for good at \(since): what was done between it and then is undone, revocations too; look at 'audit list'\(undone.isEmpty ? "" : ". At the restore: \(undone)")"
        )
    }
}

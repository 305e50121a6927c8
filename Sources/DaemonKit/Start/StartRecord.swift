import EventDelivery
import Logging
import MerchantCore
import MerchantOperations
import Synchronization
import Vocabulary

/// Records the start in the audit, with any restore or loss since the last start, and stores which webhooks receive
/// events.
///
/// On a full disk the daemon starts without the record, so that it can serve payments. ``StoreRecovery`` then calls
/// ``write()`` until it succeeds.
final class StartRecord: Sendable {
    /// How long `status` reports that an older database was accepted.
    static let olderDatabaseNotice = Duration.seconds(86_400)

    private let operations: StartOperations
    private let audit: AuditOperations
    private let deliveries: WebhookDeliveries
    private let settings: Settings
    private let lock: InstanceLock
    private let caller: Caller
    private let conditions: ConditionLog
    private let logger: Logger
    private let observation: StartObservation
    /// The restore and the losses to record: the action of each audit record and its reason.
    private let reasons = Mutex<[(action: AuditAction, reason: String)]>([])
    /// Whether the audit contains the record of this start.
    private let isRecorded = Atomic(false)
    /// Whether ``write()`` has nothing left to do.
    private let isComplete = Atomic(false)

    init(
        operations: StartOperations, audit: AuditOperations, deliveries: WebhookDeliveries, settings: Settings,
        observation: StartObservation, lock: InstanceLock, caller: Caller, conditions: ConditionLog, logger: Logger
    ) {
        self.operations = operations
        self.audit = audit
        self.deliveries = deliveries
        self.settings = settings
        self.observation = observation
        self.lock = lock
        self.caller = caller
        self.conditions = conditions
        self.logger = logger
    }

    /// Decides, now that the database is open, whether the daemon may serve, and records the start.
    ///
    /// - Throws: ``StartRefusal``; ``SettingsError`` if the callers' permits changed and the audit cannot be written.
    func decideAndWrite(acceptsOlder: Bool) async throws {
        let observation = try await withContent()
        let (losses, warnings) = try StartDecision(on: observation, acceptsOlderDatabase: acceptsOlder).orRefusal()
        for warning in warnings where !self.observation.findings.contains(warning) { warning.log(logger) }
        try lock.keep(losses.filter { $0.code.consequence == .refusalUnlessAccepted }.map(\.fact))
        let unaccepted = losses.filter { $0.code.consequence == .recordedLoss }
        if !unaccepted.isEmpty {
            for loss in unaccepted { loss.log(logger) }
            // Otherwise the next start would compare the database with the same missing record.
            try lock.forgetDatabase()
        }
        reasons.withLock { reasons in
            if let restored = observation.content?.restoredFrom { reasons.append((.databaseRestored, restored)) }
            reasons += (lock.unrecordedLosses + unaccepted.map(\.fact)).map { (.olderDatabaseAccepted, $0) }
        }
        if await !write(), try await !operations.knowsPermits(settings.policy) {
            throw SettingsError(
                "the callers' permits have changed and the change cannot be written to the audit; make room on the disk, or start with the previous permits"
            )
        }
    }

    private func withContent() async throws -> StartObservation {
        let restored = try await operations.restored()
        let end = try await audit.head()
        var observation = observation
        observation.content = try await StartObserver(settings: settings).content(
            restoredFrom: restored, auditEnd: end, observation.marks
        ) { try await audit.difference(from: $0)?.detail }
        return observation
    }

    /// - Returns: whether the start is recorded. Once it is, further calls do nothing.
    func write() async -> Bool {
        guard !isComplete.load(ordering: .acquiring) else { return true }
        do {
            // This comes first because it can be repeated. The start must be recorded only once.
            try await deliveries.keepWebhooks(settings.events.webhooks.map(\.registration))
            if !isRecorded.load(ordering: .acquiring) {
                if !reasons.withLock({ $0.isEmpty }) {
                    try await operations.restartWaitingTimes()
                }
                try await operations.recordStart(
                    as: caller, version: Program.version, policy: settings.policy, history: reasons.withLock { $0 })
                isRecorded.store(true, ordering: .releasing)
            }
            try lock.set { $0.unrecordedLosses = [] }
            try await forgetRestore()
            isComplete.store(true, ordering: .releasing)
            try await reportOlderDatabase()
            return true
        } catch {
            logger.error("the start could not be recorded", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Ships the audit head of the restored database, then removes the note that it was restored. Without the note, a
    /// start compares the database with the last shipped head. If that head were still the one from before the restore,
    /// it would refuse.
    private func forgetRestore() async throws {
        guard !reasons.withLock({ $0.isEmpty }) else { return }
        let head = try await audit.head()
        if let file = settings.auditHead.file, let head {
            do { try HeadFile(path: file).append(head, at: operations.now) } catch {
                logger.error("the audit's head could not be shipped", metadata: ["error": "\(error)"])
                return
            }
        }
        try await operations.forgetRestore()
    }

    private func reportOlderDatabase() async throws {
        guard let (since, undone) = try await operations.olderDatabase(),
            operations.now < since.adding(Self.olderDatabaseNotice)
        else { return }
        conditions.set(
            .databaseRestored, .warning,
            "an older database was accepted at \(since): later changes, revocations too, are undone; see 'audit list'\(undone.isEmpty ? "" : ". Undone by the restore: \(undone)")"
        )
    }
}

import EventDelivery
import Logging
import MerchantCore
import MerchantOperations
import Synchronization
import Vocabulary

/// Records the start in the audit, with any restore or loss of changes since the last start. Also stores the list of
/// webhooks from the settings.
///
/// If the record cannot be written, as on a full disk, and the callers' permits have not changed, the daemon starts
/// without it, so that it can serve payments. ``StartRecordRetry`` then calls ``write()`` until nothing is left to do.
final class StartRecord: Sendable {
    /// How long `status` warns that the daemon continued with an older database, or that the environment changed.
    static let noticePeriod = Duration.seconds(86_400)

    private let operations: StartOperations
    private let audit: AuditOperations
    private let deliveries: WebhookDeliveries
    private let nodes: any NodeDirectory
    private let settings: Settings
    /// A reload may replace permits and webhooks before the start is recorded.
    private let live: LiveSettings
    private let lock: InstanceLock
    private let caller: Caller
    private let activeFindings: ActiveFindings
    private let logger: Logger
    private let observation: StartObservation
    /// The audit records of a restore and of losses that belong to this start: the action and reason of each.
    private let historyToRecord = Mutex<[(action: AuditAction, reason: String)]>([])
    /// Whether the audit contains the record of this start.
    private let isRecorded = Atomic(false)
    /// Whether ``write()`` has nothing left to do.
    private let isComplete = Atomic(false)
    /// Why ``write()`` failed last; empty if it did not fail.
    private let lastFailure = Mutex("")

    init(
        operations: StartOperations, audit: AuditOperations, deliveries: WebhookDeliveries,
        nodes: any NodeDirectory, settings: Settings,
        live: LiveSettings, observation: StartObservation, lock: InstanceLock, caller: Caller,
        activeFindings: ActiveFindings,
        logger: Logger
    ) {
        self.operations = operations
        self.audit = audit
        self.deliveries = deliveries
        self.nodes = nodes
        self.settings = settings
        self.live = live
        self.observation = observation
        self.lock = lock
        self.caller = caller
        self.activeFindings = activeFindings
        self.logger = logger
    }

    /// Decides, now that the database is open, whether the daemon may serve, and records the start.
    ///
    /// - Throws: ``StartRefusal``; ``SettingsError`` if the callers' permits changed and the audit cannot be written,
    ///   if the lock file cannot be written, or if `audit.head.file` cannot be read; `MerchantError` if the database
    ///   cannot be read.
    func decideAndWrite(acceptsOlderDatabase: Bool) async throws {
        let observation = try await withAuditComparison()
        let (losses, warnings) = try StartDecision(on: observation, acceptsOlderDatabase: acceptsOlderDatabase)
            .findingsUnlessRefused()
        // The other warnings were logged at the first decision.
        for warning in warnings where !self.observation.findings.contains(warning) { warning.log(logger) }
        try lock.storeAcceptedLosses(losses.filter { $0.code.consequence == .refusalUnlessAccepted }.map(\.problem))
        let lossesWithoutAcceptance = losses.filter { $0.code.consequence == .recordedLoss }
        if !lossesWithoutAcceptance.isEmpty {
            for loss in lossesWithoutAcceptance { loss.log(logger) }
            // If the lock file kept its entries about the database, the next start would report the same missing audit
            // record again.
            try lock.clearDatabaseEntries()
        }
        let isRestoreRecorded = try await operations.isRestoreRecorded()
        historyToRecord.withLock { history in
            if let restored = observation.auditComparison?.restoredFrom, !isRestoreRecorded {
                history.append((.databaseRestored, restored))
            }
            history += (lock.lossesNotInAudit + lossesWithoutAcceptance.map(\.problem)).map {
                (.olderDatabaseAccepted, $0)
            }
        }
        // Changed permits take effect only when the audit contains them.
        if await !write(), try await !operations.arePermitsRecorded(live.current.callers) {
            throw SettingsError(
                "the callers' permits have changed and the change cannot be written to the audit; free space on the disk, or start with the previous permits"
            )
        }
    }

    private func withAuditComparison() async throws -> StartObservation {
        let restored = try await operations.restoreDescription()
        let headInDatabase = try await audit.head()
        var observation = observation
        observation.environmentChange = StartObservation.EnvironmentChange(
            from: try await operations.lastEnvironment(), to: settings.environment)
        observation.server?.others = try await nodes.nodes()
            .filter { !$0.isThisDaemon && $0.leaseRemaining > .zero }.map(\.name.rawValue)
        observation.auditComparison = try await StartObserver(settings: settings).compareAudit(
            restoredFrom: restored, headInDatabase: headInDatabase, observation.lockFile
        ) { try await audit.difference(from: $0)?.detail }
        return observation
    }

    /// Records the start, and then removes the traces of a restore or loss. Continues where an earlier call failed.
    ///
    /// - Returns: whether nothing is left to do.
    func write() async -> Bool {
        guard !isComplete.load(ordering: .acquiring) else { return true }
        do {
            if !isRecorded.load(ordering: .acquiring) {
                // Comes before the record: if a later step fails, `write` runs again, and the list can be stored again.
                try await deliveries.setWebhooks(live.current.webhooks.map(\.registration))
                if !historyToRecord.withLock({ $0.isEmpty }) {
                    // An older database lacks later changes: a waiting period may seem to have passed although it
                    // has not, and a session at the portal that was ended later may seem open.
                    try await operations.restartWaitingTimes()
                }
                try await operations.recordStart(
                    as: caller, version: Program.version, policy: live.current.callers,
                    environment: settings.environment,
                    olderDatabaseEntries: historyToRecord.withLock { $0 },
                    comesFromRestore: try await comesFromRestore())
                isRecorded.store(true, ordering: .releasing)
            }
            try await reportOlderDatabase()
            try await reportEnvironmentChange()
            if !lock.lossesNotInAudit.isEmpty { try lock.update { $0.lossesNotInAudit = [] } }
            try await clearRestore()
            isComplete.store(true, ordering: .releasing)
            return true
        } catch {
            logFailure("\(error)")
            return false
        }
    }

    /// Whether the PostgreSQL database comes from a restore that this start records, or that another start recorded
    /// less than ``noticePeriod`` ago. An accepted loss is then about this restore, and must not replace the
    /// description of what the restore undid.
    private func comesFromRestore() async throws -> Bool {
        guard observation.server != nil else { return false }
        if historyToRecord.withLock({ $0.contains { $0.action == .databaseRestored } }) { return true }
        guard let older = try await operations.olderDatabase(), !older.undone.isEmpty else { return false }
        return operations.now < older.since.adding(Self.noticePeriod)
    }

    /// Logs only the first of several consecutive failures for the same reason.
    private func logFailure(_ reason: String) {
        let isNew = lastFailure.withLock { last in
            defer { last = reason }
            return last != reason
        }
        if isNew { logger.error("the start could not be recorded completely", metadata: ["error": "\(reason)"]) }
    }

    /// Writes the audit head of the restored database to `audit.head.file`, then removes the description of the restore
    /// from the database. Also writes the head after another recorded loss, so that the next start does not find the
    /// same loss again.
    ///
    /// This order matters: without the description, a start compares the database with the last head in the file. A
    /// head from before the restore would then make the daemon refuse to start.
    ///
    /// - Throws: ``SettingsError`` if the file cannot be written. The description then stays in the database, and
    ///   ``StartRecordRetry`` calls ``write()`` again. If the daemon is stopped before the file can be written, the
    ///   next start accepts the head in the file, and does not record the restore again.
    private func clearRestore() async throws {
        let isRestored = try await !operations.restoreDescription().isEmpty
        guard isRestored || !historyToRecord.withLock({ $0.isEmpty }) else { return }
        if let file = settings.auditHead.file, let head = try await audit.head() {
            try HeadFile(path: file).append(head, at: operations.now)
        }
        if isRestored { try await operations.clearRestoreDescription() }
    }

    /// Makes `status` warn about an environment that changed less than ``noticePeriod`` ago.
    private func reportEnvironmentChange() async throws {
        guard let changed = try await operations.environmentChange(),
            operations.now < changed.adding(Self.noticePeriod)
        else { return }
        activeFindings.set(
            .environmentChanged, .warning,
            "the setting environment changed to '\(settings.environment.rawValue)' at \(changed): the merchants and keys in the database were used with the other environment before; see 'audit list'"
        )
    }

    /// Makes `status` warn about an older database that was accepted less than ``noticePeriod`` ago.
    private func reportOlderDatabase() async throws {
        guard let older = try await operations.olderDatabase(),
            operations.now < older.since.adding(Self.noticePeriod)
        else { return }
        let missing = older.missingRecords.isEmpty ? "" : "; \(older.missingRecords)"
        // A restore on another machine also starts without the claims of the machine before.
        let claims =
            observation.findings.contains { $0.code.isLossOfClaims }
            ? "; the claims of payment tokens are missing too, so tokens from the ten minutes before the start can be used again"
            : ""
        activeFindings.set(
            .databaseRestored, .warning,
            "the daemon continues with an older database since \(older.since): changes that it does not contain, such as revocations, are undone; see 'audit list'\(missing)\(claims)\(older.undone.isEmpty ? "" : ". Undone by the restore: \(older.undone)")"
        )
    }
}

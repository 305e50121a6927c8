package import MerchantCore
package import Vocabulary

/// Records the start of the daemon: its version, the permits of callers, the environment, and whether the database was
/// replaced with an older database, such as a restored backup, or was created by `store copy`.
package struct StartOperations: Sendable {
    /// Reads and writes the database in transactions. Every use case calls this type `Records`.
    package typealias Records = Transactions<
        any DaemonStateReading, any WaitingTimesAfterRestore.Writer & DaemonStateWriting & ChangeRecording
    >

    /// The name of the stored value in which `backup restore` describes the restore. The next start records the
    /// description in the audit, appends the audit head to `audit.head.file`, and then empties the value.
    package static let restoreValueName = "restoredFrom"
    /// The name of the stored value with the description of the last restore that has an audit record. If this value
    /// equals the value with the name ``restoreValueName``, the latest restore needs no further audit record.
    private static let recordedRestoreValueName = "recordedRestore"
    /// The name of the stored value that says in one sentence what the last restore undid.
    package static let undoneByRestoreValueName = "restoreUndid"
    /// The name of the stored value that says which records an older database lacks, such as `audit records 5 to 7 are
    /// missing`; empty if that is not known.
    package static let missingRecordsValueName = "olderDatabaseLacks"
    /// The name of the stored value with the time at which the daemon last started with a database that lacks earlier
    /// changes, such as a restored backup.
    package static let olderDatabaseAcceptedValueName = "olderDatabaseSince"

    /// The name of the stored value in which `store copy` describes the copy. The next start records the description in
    /// the audit, and empties the value.
    package static let copyValueName = "copiedFrom"

    /// The name of the stored value with the setting `environment` of the last start.
    package static let environmentValueName = "environment"
    /// The name of the stored value with the time at which the setting `environment` last changed.
    private static let environmentChangedValueName = "environmentChangedAt"

    private let records: Records
    private let clock: any WallClock

    package init(records: Records, clock: any WallClock) {
        self.records = records
        self.clock = clock
    }

    package var now: Timestamp { clock.now }

    /// The description of a restore that is not completely recorded yet; empty if there is none. Meanwhile, the last
    /// head in `audit.head.file` may be the head of the replaced database.
    package func restoreDescription() async throws -> String {
        try await records.read { try $0.daemonValue(Self.restoreValueName) } ?? ""
    }

    /// Whether the restore that ``restoreDescription()`` describes has an audit record.
    package func isRestoreRecorded() async throws -> Bool {
        try await records.read {
            try $0.daemonValue(Self.restoreValueName) == $0.daemonValue(Self.recordedRestoreValueName)
        }
    }

    /// Empties the description of the restore. Called when the restore has an audit record and `audit.head.file`
    /// contains the head of the restored database.
    package func clearRestoreDescription() async throws {
        try await records.write { try $0.setDaemonValue(Self.restoreValueName, "") }
    }

    /// What is stored about the last start with an older database.
    package struct OlderDatabase: Sendable {
        /// When the daemon started with the older database.
        package let since: Timestamp
        /// Which records the database lacks; empty if that is not known.
        package let missingRecords: String
        /// What the restore undid; empty if the restore undid nothing, or if the database does not come from a restore.
        package let undone: String
    }

    /// The stored values about the last start with an older database; nil if there was no such start.
    package func olderDatabase() async throws -> OlderDatabase? {
        try await records.read { reading in
            guard
                let since = try reading.daemonValue(Self.olderDatabaseAcceptedValueName).flatMap({
                    Timestamp(rfc3339: $0)
                })
            else { return nil }
            return OlderDatabase(
                since: since, missingRecords: try reading.daemonValue(Self.missingRecordsValueName) ?? "",
                undone: try reading.daemonValue(Self.undoneByRestoreValueName) ?? "")
        }
    }

    /// The setting `environment` of the last recorded start; nil if there is none.
    package func lastEnvironment() async throws -> Environment? {
        try await records.read { try $0.daemonValue(Self.environmentValueName) }.flatMap { Environment(rawValue: $0) }
    }

    /// When the setting `environment` last changed; nil if it never did.
    package func environmentChange() async throws -> Timestamp? {
        try await records.read { try $0.daemonValue(Self.environmentChangedValueName) }
            .flatMap { Timestamp(rfc3339: $0) }
    }

    /// Starts two waiting times again: the delay of every scheduled destruction of a private key, and the time for
    /// which the old key of a roll must be unused. Also ends every session at the portal. Called when the database was
    /// replaced with an older database, in which these times may seem to be over although they are not, and in which a
    /// session may be open although it was ended.
    package func restartWaitingTimes() async throws {
        let now = clock.now
        try await records.write { try WaitingTimesAfterRestore.restart(at: now, in: $0) }
    }

    /// Whether the permits in `policy` are those that were recorded last. If not,
    /// ``recordStart(as:version:policy:environment:olderDatabaseEntries:)`` must record them before they take effect.
    package func arePermitsRecorded(_ policy: CallerPolicy) async throws -> Bool {
        try await records.read { try RecordedPermits.match(policy, in: $0) }
    }

    /// Records the start of the daemon, a copy of the database that `store copy` described, and the permits of callers
    /// and the environment if they have changed.
    ///
    /// - Parameters:
    ///   - olderDatabaseEntries: the action and reason of each audit record to write about the replacement of the
    ///     database with an older database; empty if the database was not replaced.
    ///   - comesFromRestore: whether an entry `olderDatabaseAccepted` is about a restore that another daemon on the
    ///     database has recorded, or that this start records. What the restore undid then stays in ``olderDatabase()``.
    package func recordStart(
        as caller: Caller, version: String, policy: CallerPolicy, environment: Environment,
        olderDatabaseEntries: [(action: AuditAction, reason: String)] = [], comesFromRestore: Bool = false
    ) async throws {
        let now = clock.now
        let request = Request(caller: caller, requestId: "start")
        try await records.write { transaction in
            try transaction.append(request.auditEntry(.daemonStarted, at: now, after: version))
            for (action, reason) in olderDatabaseEntries {
                try transaction.append(request.auditEntry(action, at: now, reason: reason))
                try transaction.setDaemonValue(Self.olderDatabaseAcceptedValueName, now.rfc3339)
                if action == .databaseRestored {
                    try transaction.setDaemonValue(Self.recordedRestoreValueName, reason)
                } else if !comesFromRestore {
                    // The stored sentences are about an earlier restore, but this database does not come from a
                    // restore.
                    try transaction.setDaemonValue(Self.undoneByRestoreValueName, "")
                    try transaction.setDaemonValue(Self.missingRecordsValueName, reason)
                }
            }
            if let copied = try transaction.daemonValue(Self.copyValueName), !copied.isEmpty {
                try transaction.append(request.auditEntry(.storeCopied, at: now, reason: copied))
                try transaction.setDaemonValue(Self.copyValueName, "")
            }
            if let before = try transaction.daemonValue(Self.environmentValueName), before != environment.rawValue {
                try transaction.setDaemonValue(Self.environmentChangedValueName, now.rfc3339)
                try transaction.append(
                    request.auditEntry(.environmentChanged, at: now, before: before, after: environment.rawValue))
            }
            try transaction.setDaemonValue(Self.environmentValueName, environment.rawValue)
            try RecordedPermits.update(to: policy, at: now, for: request, in: transaction)
        }
    }
}

import Glibc
import MerchantCore
import MerchantOperations
import PostgresStore
import SQLiteStore
import StoreCore
import Vocabulary

/// Copies a backup to a PostgreSQL database. Data that the database contains is kept in another schema of the same
/// database. If the restore is interrupted while it copies, daemons refuse the database until the restore is run again.
struct PostgresRestore {
    let settings: Settings
    let postgresql: PostgreSQLSettings
    /// The path of the backup.
    let file: String
    /// Whether the restore may replace existing data.
    let replaces: Bool
    /// Whether a backup that failed verification is accepted.
    let acceptsFindings: Bool
    let masterKeys: MasterKeys
    let clock: any WallClock
    /// Only tests pass `notRequired`.
    var durability = Durability.required
    /// Called with the name of the schema as soon as it contains the old data.
    var reportOldSchema: (String) -> Void = { _ in }

    struct Report {
        let verification: BackupVerificationResult
        let undone: RevertedChanges
        let database: String
        /// The schema that contains the old data now; nil if there was none.
        let oldSchema: String?
    }

    func run() async throws -> Report {
        let backup = try BackupFile(reading: file)
        try StateDirectory.prepare(settings.stateDirectory)
        let lock = try InstanceLock(path: settings.lockPath)
        let database = postgresql.connection.databaseName
        let locks = try CopyLocks(settings, durability)
        let hasData = try PostgresCopy.hasData(postgresql.connection, durability: durability)
        guard hasData != true || replaces else {
            throw SettingsError(
                "the PostgreSQL database \(database) already contains data; pass --replace to move that data to another schema of the database"
            )
        }
        // If there is old data, the directory also needs space for a copy of it, which may be larger than the backup.
        let scratch = try ScratchDirectory(near: file, bytes: backup.manifest.databaseBytes * (hasData == true ? 3 : 1))
        defer { scratch.remove() }
        let draft = "\(scratch.path)/copy.sqlite"
        try backup.copyDatabase(to: draft)
        let prepared = try await RestorePreparation(
            backup: backup, acceptsFindings: acceptsFindings, masterKeys: masterKeys, clock: clock
        ).run(on: draft, replacing: oldDatabase(hasData, in: scratch))
        try locks.requireNoDaemon()
        let oldSchema = try copy(draft, locks, lock)
        return Report(
            verification: prepared.verification, undone: prepared.undone, database: database, oldSchema: oldSchema)
    }

    private static func schemaName(at now: Timestamp) -> String {
        "\(PostgresCopy.keptSchemaPrefix)\(now.rfc3339.filter { $0.isLetter || $0.isNumber }.lowercased())"
    }

    /// Writes the data that is replaced to a SQLite database, to compare it with the backup.
    ///
    /// - Parameter hasData: nil if the database is an unfinished copy.
    private func oldDatabase(_ hasData: Bool?, in scratch: ScratchDirectory) -> RestorePreparation.OldDatabase {
        guard let hasData else {
            return .none(
                reason:
                    "an earlier restore or copy was interrupted; an interrupted restore has moved the old data to another schema"
            )
        }
        guard hasData else { return .none(reason: "there was no data in the database") }
        let path = "\(scratch.path)/old.sqlite"
        do {
            try PostgresBackupSource(connection: postgresql.connection, clock: clock, durability: durability)
                .writeBackup(to: path, named: path)
            return .file(path)
        } catch {
            return .none(reason: "the old data cannot be read (\(Diagnosis.detail(of: error)))")
        }
    }

    /// - Parameter draft: the path of the verified SQLite database.
    /// - Returns: the schema that contains the old data now; nil if there was none.
    private func copy(_ draft: String, _ locks: CopyLocks, _ lock: InstanceLock) throws -> String? {
        let source = try SQLiteTables(database: draft, claims: nil)
        let tables = try source.tables()
        let head = try tables.first { $0.name == "audit" }.flatMap { try source.auditHead(in: $0) }
        // A restore is never resumed, because each run stores its own time.
        let target = try PostgresCopy(
            postgresql.connection, mark: UnfinishedCopyMark(sourceHead: head ?? AuditHead(sequence: 0, hash: [])),
            content: .replaced(keptAs: Self.schemaName(at: clock.now)), clock: clock, durability: durability)
        target.keptSchema.map(reportOldSchema)
        do {
            let copy = try DatabaseCopy(from: source, to: target, withClaims: false)
            try copy.copyRows()
            let faults = try copy.compare().faults
            guard faults.isEmpty else {
                throw MerchantError(
                    .backupFailed,
                    "the restored data differs from the backup: \(faults.prefix(3).joined(separator: "; ")): report this error"
                )
            }
            try target.prepareForUse()
            try locks.requireNoDaemon()
            // The next start must not compare the database with an audit record that was written after the backup.
            try lock.update { $0.head = nil }
            try target.finish()
        } catch let error as MerchantError {
            guard let schema = target.keptSchema else { throw error }
            throw MerchantError(
                error.code,
                "\(error.detail). The old data is in the schema \(schema) of the database: run the command again, or see docs/postgresql.md to return to the old data"
            )
        }
        return target.keptSchema
    }
}

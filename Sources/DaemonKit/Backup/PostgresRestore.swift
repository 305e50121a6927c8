import Glibc
import MerchantCore
import MerchantOperations
import PostgresStore
import SQLiteStore
import StoreCore
import Vocabulary

/// Copies a backup to a PostgreSQL database. Data that the database contains is kept in another schema of the same
/// database. If the restore is interrupted, daemons refuse the database until the restore is run again.
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
        // Space for two databases, because the old data is copied too.
        let scratch = try ScratchDirectory(near: file, bytes: backup.manifest.databaseBytes * (hasData == true ? 3 : 1))
        defer { scratch.remove() }
        let draft = "\(scratch.path)/copy.sqlite"
        try backup.copyDatabase(to: draft)
        let prepared = try await RestorePreparation(
            backup: backup, acceptsFindings: acceptsFindings, masterKeys: masterKeys, clock: clock
        ).run(on: draft, replacing: oldDatabase(hasData, in: scratch))
        let oldSchema = hasData == true ? Self.schemaName(at: clock.now) : nil
        try locks.requireNoDaemon()
        try copy(draft, keepingDataAs: oldSchema, locks)
        // The next start must not compare the database with an audit record that was written after the backup.
        try lock.update { $0.head = nil }
        return Report(
            verification: prepared.verification, undone: prepared.undone, database: database, oldSchema: oldSchema)
    }

    private static func schemaName(at now: Timestamp) -> String {
        "merchantkeyd_replaced_\(now.rfc3339.filter { $0.isLetter || $0.isNumber }.lowercased())"
    }

    /// Writes the data that is replaced to a SQLite database, to compare it with the backup.
    ///
    /// - Parameter hasData: nil if the database is an unfinished copy.
    private func oldDatabase(_ hasData: Bool?, in scratch: ScratchDirectory) -> RestorePreparation.OldDatabase {
        guard let hasData else { return .none(reason: "an earlier restore or copy was interrupted") }
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
    private func copy(_ draft: String, keepingDataAs schema: String?, _ locks: CopyLocks) throws {
        let source = try SQLiteTables(database: draft, claims: nil)
        let tables = try source.tables()
        let head = try tables.first { $0.name == "audit" }.flatMap { try source.auditHead(in: $0) }
        // A restore is never resumed, because each run stores its own time.
        let target = try PostgresCopy(
            postgresql.connection, mark: CopyMark(head: head ?? AuditHead(sequence: 0, hash: [])),
            content: .replaced(keptAs: schema ?? Self.schemaName(at: clock.now)), clock: clock, durability: durability)
        let copy = try DatabaseCopy(from: source, to: target, withClaims: false)
        try copy.copyRows()
        let faults = try copy.compare().faults
        guard faults.isEmpty else {
            throw MerchantError(
                .backupFailed,
                "the restored data differs from the backup: \(faults.prefix(3).joined(separator: "; ")): report this error\(schema.map { "; the old data is in the schema \($0)" } ?? "")"
            )
        }
        try target.prepareForUse()
        try locks.requireNoDaemon()
        try target.finish()
    }
}

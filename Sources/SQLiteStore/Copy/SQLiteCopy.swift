import FoundationEssentials
import GRDB
import Glibc
package import MerchantCore
import Schema
package import StoreCore
import Vocabulary

/// The SQLite databases to which a store is copied. For a daemon there are two, and their names have the suffix
/// ``suffix`` until the copy is finished. For a backup there is one.
package struct SQLiteCopy: TableWriting {
    /// The suffix of the names of both files until the copy is finished.
    package static let suffix = ".copying"

    /// Whether an earlier run has copied a part of the rows.
    package let isResumed: Bool
    private let merchants: SQLiteCopyFile
    /// Nil for a backup, which contains no claims.
    private let claims: SQLiteCopyFile?
    package let reader: SQLiteTables

    /// Creates the files, or resumes an unfinished copy of the same data. An unfinished copy of other data is removed.
    ///
    /// - Parameters:
    ///   - database: the path of the database of the merchants, without ``suffix``.
    ///   - claims: the path of the claims database, without ``suffix``.
    /// - Throws: `storeUnavailable` if the files cannot be created.
    package init(database: String, claims: String, mark: UnfinishedCopyMark, clock: any WallClock) throws {
        let now = clock.now
        let paths = (merchants: database + Self.suffix, claims: claims + Self.suffix)
        if let files = try? Self.openUnfinished(paths.merchants, paths.claims, mark) {
            (self.merchants, self.claims) = files
            isResumed = true
        } else {
            Self.removeFiles(database: database, claims: claims)
            self.claims = try Self.create(paths.claims, .claims, .ofDaemon(mark), at: now)
            // Created last, because this file contains the mark without which a copy is not resumed.
            self.merchants = try Self.create(paths.merchants, .merchants, .ofDaemon(mark), at: now)
            isResumed = false
        }
        reader = SQLiteTables(merchants: merchants, claims: self.claims)
    }

    /// The database of a backup.
    ///
    /// - Parameter path: an empty file.
    /// - Throws: `storeUnavailable` if the file cannot be written.
    package init(backup path: String, clock: any WallClock) throws {
        merchants = try Self.create(path, .merchants, .backup, at: clock.now)
        claims = nil
        isResumed = false
        reader = SQLiteTables(merchants: merchants, claims: nil)
    }

    /// What the copied files are for.
    private enum Use: Equatable {
        /// The files of a daemon, which no daemon may use before the copy is finished.
        case ofDaemon(UnfinishedCopyMark)
        case backup
    }

    /// Removes the files of a copy that is not finished.
    ///
    /// - Parameters:
    ///   - database: the path of the database of the merchants, without ``suffix``.
    ///   - claims: the path of the claims database, without ``suffix``.
    package static func removeFiles(database: String, claims: String) {
        // The file with the mark is removed first, so that a later copy is not resumed without its claims.
        for path in [database, claims] { for end in SQLiteStore.fileSuffixes { unlink(path + suffix + end) } }
    }

    private static func openUnfinished(
        _ merchants: String, _ claims: String, _ mark: UnfinishedCopyMark
    ) throws -> (SQLiteCopyFile, SQLiteCopyFile)? {
        guard access(merchants, F_OK) == 0, access(claims, F_OK) == 0 else { return nil }
        let files = (try open(merchants, .merchants, .ofDaemon(mark)), try open(claims, .claims, .ofDaemon(mark)))
        let isSame = try files.0.queue.read { db in
            guard try Migrations.requireKnownMigrations(Schema.migrations, in: db) == Schema.migrations.count else {
                return false
            }
            let found = try db.firstRow("SELECT audit_sequence, audit_hash FROM \(UnfinishedCopyMark.table)", []) {
                UnfinishedCopyMark(
                    sourceHead: AuditHead(sequence: try $0.integer("audit_sequence"), hash: try $0.bytes("audit_hash")))
            }
            return found == mark
        }
        return isSame ? files : nil
    }

    private static func create(
        _ path: String, _ kind: DatabaseKind, _ use: Use, at now: Timestamp
    ) throws -> SQLiteCopyFile {
        try SQLiteErrors.translating(of: kind) {
            try DatabaseFile.createOrCheck(at: path)
            let file = try open(path, kind, use)
            try file.queue.writeWithoutTransaction { db in
                try Migrations.apply(kind.migrations, to: db, kind: kind, at: now)
                try db.inTransaction(.immediate) {
                    // The copied rows already contain the results of the source's triggers, so no trigger may run
                    // again.
                    let triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
                    for name in try String.fetchAll(db, sql: triggers) {
                        try db.execute(sql: "DROP TRIGGER \(name.quotedInSQLite)")
                    }
                    guard kind == .merchants else { return .commit }
                    // The schema has created rows in `totals`. The copy inserts the rows of the source instead.
                    try db.execute(sql: "DELETE FROM totals")
                    if case .ofDaemon(let mark) = use {
                        try db.execute(
                            sql: """
                                CREATE TABLE \(UnfinishedCopyMark.table) (
                                    audit_sequence INTEGER NOT NULL, audit_hash BLOB NOT NULL)
                                """)
                        try db.execute(
                            "INSERT INTO \(UnfinishedCopyMark.table) (audit_sequence, audit_hash) VALUES (?, ?)",
                            [mark.sourceHead.sequence, mark.sourceHead.hash])
                    }
                    return .commit
                }
            }
            return file
        }
    }

    /// Opens a file for many large transactions. A power failure may undo the last of these transactions, and the copy
    /// then repeats them.
    private static func open(_ path: String, _ kind: DatabaseKind, _ use: Use) throws -> SQLiteCopyFile {
        Connections.disableMemoryPools()
        var configuration = Configuration()
        configuration.label = "merchantkeyd.copy"
        // A backup is one file, without a write-ahead log.
        configuration.journalMode = use == .backup ? .default : .wal
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try Connections.refuseForeignDatabase(db, path: path, kind: kind)
            try db.execute(
                sql: """
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    PRAGMA secure_delete = ON;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA cache_size = -65536;
                    """)
            // A backup is synced once, when it is complete.
            if use == .backup { try db.execute(sql: "PRAGMA synchronous = OFF") }
        }
        return SQLiteCopyFile(queue: try DatabaseQueue(path: path, configuration: configuration), kind: kind)
    }
}

extension DatabaseKind {
    fileprivate var migrations: [(name: String, sql: String)] {
        switch self {
        case .merchants: Schema.migrations
        case .claims: Schema.claimsMigrations
        }
    }
}

// MARK: - Reading and writing

extension SQLiteCopy {
    package func write(to table: CopiedTable, _ body: (_ insert: ([CopiedRow]) throws -> Void) throws -> Void) throws {
        let file = reader.file(of: table)
        let columns = table.columns.map { $0.name.quotedInSQLite }.joined(separator: ", ")
        let parameters = table.columns.map { _ in "?" }.joined(separator: ", ")
        let statement = "INSERT INTO \(table.name.quotedInSQLite) (\(columns)) VALUES (\(parameters))"
        try SQLiteErrors.translating(of: file.kind) {
            try file.queue.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) {
                    try body { rows in
                        for row in rows { try db.execute(statement, row.map { $0 as (any SQLValue)? }) }
                    }
                    return .commit
                }
            }
        }
    }

    package func setAssignedNumbers(_ numbers: [String: Int64]) throws {
        try SQLiteErrors.translating {
            try merchants.queue.write { db in
                let tablesWithCounter = try String.fetchSet(
                    db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'")
                for (table, number) in numbers where tablesWithCounter.contains(table) {
                    let present = try db.firstRow("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]) {
                        try $0.int64("seq")
                    }
                    if present == nil {
                        try db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table, number])
                    } else {
                        try db.execute(
                            "UPDATE sqlite_sequence SET seq = ? WHERE name = ?", [max(number, present ?? 0), table])
                    }
                }
            }
        }
    }

    /// Prepares the files for their use: creates the triggers, removes the mark of an unfinished copy, compares the
    /// schemas with those of new files, checks the files, and closes them, so that no write-ahead log is left.
    ///
    /// - Throws: `internalError` if a schema differs, or if SQLite's checks find a fault.
    package func finish() throws {
        for file in [claims, merchants].compactMap(\.self) {
            try SQLiteErrors.translating(of: file.kind) {
                let expected = try Self.schema(of: file.kind)
                try file.queue.write { db in
                    try db.execute(sql: "DROP TABLE IF EXISTS \(UnfinishedCopyMark.table)")
                    let present = try Self.objects(in: db)
                    for object in expected where object.kind == "trigger" && !present.contains(object) {
                        try db.execute(sql: object.sql)
                    }
                    let found = try Self.objects(in: db)
                    let faults = try SQLiteStore.faults(in: db)
                    guard found == expected, faults.isEmpty else {
                        throw MerchantError(
                            .internalError,
                            "the copied database cannot be used: \(faults.first ?? "its schema differs from that of a new database"): report this error"
                        )
                    }
                }
                try file.queue.close()
            }
        }
    }

    /// A table, an index or a trigger.
    private struct SchemaObject: Hashable {
        let kind: String
        let sql: String
    }

    private static func objects(in db: Database) throws -> Set<SchemaObject> {
        let query = "SELECT type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"
        return Set(
            try db.allRows(query, []) { SchemaObject(kind: try $0.text("type"), sql: try $0.text("sql")) })
    }

    /// The schema of a new database.
    private static func schema(of kind: DatabaseKind) throws -> Set<SchemaObject> {
        let queue = try DatabaseQueue()
        defer { try? queue.close() }
        return try queue.writeWithoutTransaction { db in
            try Migrations.apply(kind.migrations, to: db, kind: kind, at: Timestamp(millisecondsSince1970: 0))
            return try objects(in: db)
        }
    }
}

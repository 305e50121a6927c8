import FoundationEssentials
import GRDB
import Glibc
package import MerchantCore
import Schema
import StoreCore
package import Vocabulary

/// The state of a database, read from its file without changing the file and without the daemon. So a database can also
/// be inspected if the daemon cannot start.
package struct DatabaseInspection: Sendable {
    package let schemaVersion: Int
    /// The schema version to which this program would upgrade the database.
    package let knownSchemaVersion: Int
    /// The faults of the file's header, and those that SQLite's `quick_check` finds; empty if there are none.
    package private(set) var faults: [String]
    /// The findings of ``IntegrityCheck``: changes by other programs that SQLite's own check cannot find. Empty if the
    /// schema is older than this program's, because ``IntegrityCheck`` then cannot run.
    package let inconsistentContent: [String]
    /// Audit records that are missing, altered or reordered.
    package let auditBreaks: [AuditBreak]
    package let dataKeys: [SealedDataKey]
    package let counts: StoreCounts
    /// What the database contains about backups; nil if this cannot be read, for example in an older schema.
    package let backups: BackupCoverage?
    /// The time of the last audit record; nil if there is none.
    package let lastAuditRecordAt: Timestamp?
    /// How many certificates of active key pairs have expired or expire soon; nil if they cannot be counted, because
    /// the schema is older or an index is missing.
    package let expiryCounts: ExpiryCounts?

    /// The database has no schema or no data key, because the daemon's first start was interrupted. The daemon's next
    /// start creates them.
    package struct SetupUnfinished: Error {}

    /// Reads and checks the whole database.
    ///
    /// - Parameter now: the present time, with which the expiry times of certificates are compared.
    /// - Throws: `storeUnavailable` if the file cannot be opened, is not a database of this program or comes from a
    ///   newer version of it; ``SetupUnfinished``.
    package init(of path: String, at now: Timestamp) throws {
        self = try SQLiteErrors.translating(at: path) { try Self.read(path) { try Self(reading: $0, path, now) } }
        if let fault = DatabaseHeader.fault(of: path) { faults.insert(fault, at: 0) }
    }

    /// Runs `body` on a connection that only reads.
    ///
    /// If there is no write-ahead log, SQLite reads the file as immutable and takes no locks. If another program then
    /// changes the file during the read, the result may mix two states, so `body` runs again: up to four times in all.
    private static func read<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
        for _ in 0..<4 {
            let before = DatabaseFile.WriteState(of: path)
            let found = Swift.Result { try openReadOnly(path).read(body) }
            if before.hasLog || DatabaseFile.WriteState(of: path) == before { return try found.get() }
        }
        throw MerchantError(
            .storeUnavailable,
            "another program keeps opening and closing the database: stop that program, then repeat the command")
    }

    /// The value of the row `name` in the table `daemon_values`, in which the daemon stores texts about itself. nil if
    /// there is no such row or the database cannot be read.
    package static func daemonValue(_ name: String, in path: String) -> String? {
        try? read(path) { try StoreReader(db: $0).daemonValue(name) }
    }

    /// Whether a database contains the audit record with the head's number and hash, and passes SQLite's
    /// `integrity_check`. Reads the whole file. False if the database cannot be read.
    package static func isIntactAndContains(_ head: AuditHead, in path: String) -> Bool {
        (try? read(path) { try contains(head, $0) && isIntact($0) }) ?? false
    }

    /// Whether a database contains the audit record with the head's number and hash. False if the database cannot be
    /// read.
    package static func contains(_ head: AuditHead, in path: String) -> Bool {
        (try? read(path) { try contains(head, $0) }) ?? false
    }

    /// Whether a database's file, read without its write-ahead log, lacks the audit record with the head's number and
    /// hash. False if the file cannot be read.
    ///
    /// - Parameter requiringIntact: if true, the result is true only if the file also passes SQLite's
    ///   `integrity_check`. After an interrupted checkpoint, a query may miss a record that is in the file.
    package static func lacks(_ head: AuditHead, inFileAlone path: String, requiringIntact: Bool) -> Bool {
        let isLacking = try? openReadOnly(path, ignoringLog: true).read { db in
            try !contains(head, db) && (!requiringIntact || isIntact(db))
        }
        return isLacking ?? false
    }

    private static func contains(_ head: AuditHead, _ db: Database) throws -> Bool {
        try Data.fetchOne(db, sql: "SELECT hash FROM audit WHERE sequence = ?", arguments: [head.sequence])
            == Data(head.hash)
    }

    private static func isIntact(_ db: Database) throws -> Bool {
        try SQLiteStore.faults(in: db, byCheck: "integrity_check").isEmpty
    }

    /// Runs `body` on the content and the data keys of a database.
    ///
    /// - Throws: what `body` throws; `storeUnavailable` if the file cannot be opened, is not a database of this program
    ///   or comes from a newer version of it; ``SetupUnfinished``.
    package static func read<Result>(
        from path: String, _ body: (any RepositoryReading, [SealedDataKey]) throws -> Result
    ) throws -> Result {
        try SQLiteErrors.translating(at: path) {
            try read(path) { db in
                try requireOwnProgram(db, path)
                try Migrations.requireKnownMigrations(Schema.migrations, in: db)
                let reader = StoreReader(db: db)
                return try body(reader, try requireDataKeys(reader))
            }
        }
    }

    /// Checks what a start requires of the files before it opens a database: that no other user can access them, and
    /// that SQLite can write to them. Changes nothing.
    ///
    /// - Throws: `storeUnavailable`.
    package static func requireUsableFiles(at path: String) throws {
        try requireUsableFiles(at: path, of: .merchants)
    }

    static func requireUsableFiles(at path: String, of kind: DatabaseKind) throws {
        try DatabaseFile.requirePrivate(at: path)
        for file in [path, path + "-wal", path + "-shm"]
        where access(file, F_OK) == 0 && faccessat(AT_FDCWD, file, R_OK | W_OK, AT_EACCESS) != 0 {
            throw MerchantError(
                .storeUnavailable,
                "the file \(file) cannot be written: \(String(cString: strerror(errno))); check its owner and mode")
        }
        if let fault = DatabaseHeader.fault(of: path) {
            throw MerchantError(
                .storeUnavailable, "the database \(path) cannot be written: \(fault); \(kind.repair)")
        }
    }

    /// The identifier of the process that has locked a database for writing, so that no other process can write; 0 if
    /// the process runs in another namespace. nil if no other process has locked the database, or if this cannot be
    /// found out.
    ///
    /// A daemon locks its database during each write.
    package static func writeLockHolder(of path: String) -> Int32? { DatabaseLock.holder(of: path) }

    /// Identifies the content of a database's write-ahead log. SQLite changes this text when it starts to overwrite the
    /// log from the beginning. nil if there is no log or the log is empty.
    package static func logGeneration(of path: String) -> String? { DatabaseFile.logGeneration(of: path) }

    /// Whether the database's file exists and has more than one byte. SQLite treats a file of one byte as empty.
    package static func hasContent(_ path: String) -> Bool { DatabaseFile.hasContent(path) }

    /// Opens a connection that only reads.
    ///
    /// - Parameter ignoringLog: if true, SQLite ignores the write-ahead log. If false, SQLite also reads the log if
    ///   there is one.
    static func openReadOnly(_ path: String, ignoringLog: Bool = false) throws -> DatabaseQueue {
        Connections.disableMemoryPools()
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        // SQLite ignores the log of a file that is opened as immutable. If there is no log, no program has the database
        // open for writing. The file is then opened as immutable, because SQLite would otherwise create a log.
        // SQLite deletes the log of an empty file, so an empty file is opened as immutable, too.
        let isImmutable = ignoringLog || access(path + "-wal", F_OK) != 0 || !DatabaseFile.hasContent(path)
        let name = isImmutable ? "file:\(Self.escaped(path))?immutable=1" : path
        return try DatabaseQueue(path: name, configuration: configuration)
    }

    /// - Throws: `storeUnavailable` for a database of another program; ``SetupUnfinished`` for an empty database,
    ///   because the first start creates an empty file before it creates the schema.
    private static func requireOwnProgram(_ db: Database, _ path: String) throws {
        try Connections.refuseForeignDatabase(db, path: path, kind: .merchants)
        guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == DatabaseKind.merchants.rawValue else {
            throw SetupUnfinished()
        }
    }

    private static func requireDataKeys(_ reader: StoreReader) throws -> [SealedDataKey] {
        let keys = try reader.dataKeys()
        guard !keys.isEmpty else { throw SetupUnfinished() }
        return keys
    }

    private init(reading db: Database, _ path: String, _ now: Timestamp) throws {
        try Self.requireOwnProgram(db, path)
        schemaVersion = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        knownSchemaVersion = Schema.migrations.count
        faults = try String.fetchAll(db, sql: "PRAGMA quick_check").filter { $0 != "ok" }
        try Migrations.requireKnownMigrations(Schema.migrations, in: db)
        inconsistentContent = schemaVersion < knownSchemaVersion ? [] : IntegrityCheck.findings(in: db)
        let reader = StoreReader(db: db)
        auditBreaks = try Self.auditBreaks(reader)
        dataKeys = try Self.requireDataKeys(reader)
        counts = try reader.counts(at: now)
        // The values that are read with `try?` are nil if the schema is older or an index is missing, so that the other
        // values are still reported.
        backups = try? reader.backupCoverage(at: now)
        lastAuditRecordAt = try reader.firstRow("SELECT at FROM audit ORDER BY sequence DESC LIMIT 1", []) {
            try $0.timestamp("at")
        }
        expiryCounts = try? ExpiryCounts(in: reader, at: now)
    }

    private static func auditBreaks(_ reader: StoreReader) throws -> [AuditBreak] {
        var audit = AuditExamination()
        while true {
            let segment = try reader.auditSegment(from: audit.next, limit: 1000)
            for link in segment.links { audit.examine(link) }
            guard segment.links.isEmpty else { continue }
            audit.finish(highestAssigned: segment.highestAssigned)
            audit.markReorderedRecords()
            return audit.breaks
        }
    }

    /// Escapes the characters of a path that have a meaning in a URI (RFC 3986). Removes all but one slash at the
    /// beginning, because two slashes would introduce a host name.
    private static func escaped(_ path: String) -> String {
        (path.hasPrefix("/") ? "/" + path.drop { $0 == "/" } : path).replacing("%", with: "%25").replacing(
            "?", with: "%3F"
        ).replacing("#", with: "%23")
    }
}

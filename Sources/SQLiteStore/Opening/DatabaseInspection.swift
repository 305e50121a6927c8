import FoundationEssentials
import GRDB
import Glibc
package import MerchantCore
import Schema
package import Vocabulary

/// The state of a database, read without changing the file. Needs no running daemon, so that it also works if the
/// daemon cannot start.
package struct DatabaseInspection: Sendable {
    package let schemaVersion: Int
    /// The schema version to which this program would upgrade the database.
    package let knownSchemaVersion: Int
    /// The faults that SQLite's `quick_check` finds; empty if there are none.
    package let faults: [String]
    /// The findings of ``IntegrityCheck``: changes by other programs that SQLite's own check cannot find. Empty if the
    /// schema is older than this program's, because then they are not checked.
    package let inconsistentContent: [String]
    /// Audit records that are missing, altered or reordered.
    package let auditBreaks: [AuditBreak]
    package let dataKeys: [SealedDataKey]
    package let counts: StoreCounts
    /// What the database has recorded about backups; nil if it cannot be read.
    package let coverage: BackupCoverage?
    /// The time of the last audit record.
    package let lastRecordAt: Timestamp?
    /// How many certificates of active key pairs have expired or expire soon; nil if they cannot be counted, because
    /// the schema is older or an index is missing.
    package let ending: ExpiryCounts?
    /// The value of the row in `daemon_facts` that the caller asked for; nil if there is none or it is empty.
    package let fact: String?

    /// The error if the database has no schema or no data key: the daemon's first start was interrupted. The next start
    /// creates what is missing.
    package struct Unfinished: Error {}

    /// - Parameters:
    ///   - now: the time with which the expiry of certificates is compared.
    ///   - fact: the name of the row in `daemon_facts` to read into ``fact``.
    /// - Throws: `storeUnavailable` if the file cannot be opened or is not a database of this program; ``Unfinished``.
    package init(of path: String, at now: Timestamp, fact: String) throws {
        self = try SQLiteErrors.translating {
            try Self.read(path) { try Self(reading: $0, now, fact) }
        }
    }

    /// Runs `body` on a connection that only reads.
    ///
    /// Without a write-ahead log, SQLite reads the file as immutable and takes no locks. If another program changes the
    /// file meanwhile, the result may mix two states, so `body` runs again: up to four times in all.
    private static func read<Result>(_ path: String, _ body: (Database) throws -> Result) throws -> Result {
        for _ in 0..<4 {
            let before = DatabaseFile.WriteState(of: path)
            let found = Swift.Result { try queue(path).read(body) }
            if before.hasLog || DatabaseFile.WriteState(of: path) == before { return try found.get() }
        }
        throw MerchantError(
            .storeUnavailable,
            "another program keeps opening and closing the database: stop it, then repeat the command")
    }

    /// Whether a database holds the audit record of this head and passes SQLite's `integrity_check`. Reads the whole
    /// file. False if the database cannot be read.
    package static func holds(_ head: AuditHead, in path: String) -> Bool {
        (try? read(path) { try holds(head, $0) && isSound($0) }) ?? false
    }

    /// Whether a database holds the audit record of this head. False if the database cannot be read.
    package static func contains(_ head: AuditHead, in path: String) -> Bool {
        (try? read(path) { try holds(head, $0) }) ?? false
    }

    /// Whether a database's file, read without its write-ahead log, lacks the audit record of this head. False if the
    /// file cannot be read.
    ///
    /// - Parameter isSound: if true, the result is true only if the file also passes SQLite's `integrity_check`. After
    ///   an interrupted checkpoint, a file may seem to lack a record that it holds.
    package static func lacks(_ head: AuditHead, inFileAlone path: String, isSound: Bool) -> Bool {
        let found = try? queue(path, isAlone: true).read { db in
            try !holds(head, db) && (!isSound || Self.isSound(db))
        }
        return found ?? false
    }

    private static func holds(_ head: AuditHead, _ db: Database) throws -> Bool {
        try Data.fetchOne(db, sql: "SELECT hash FROM audit WHERE sequence = ?", arguments: [head.sequence])
            == Data(head.hash)
    }

    private static func isSound(_ db: Database) throws -> Bool {
        try SQLiteStore.faults(in: db, byCheck: "integrity_check").isEmpty
    }

    /// The value of a row in `daemon_facts`; nil if there is none or the database cannot be read.
    package static func fact(_ name: String, in path: String) -> String? {
        try? read(path) { try StoreReader(db: $0).daemonFact(name) }
    }

    /// As ``DatabaseFile/logGeneration(of:)``.
    package static func logGeneration(of path: String) -> String? { DatabaseFile.logGeneration(of: path) }

    /// Opens a connection that only reads.
    ///
    /// - Parameter isAlone: if true, SQLite reads the file as immutable and ignores a write-ahead log. If false, it
    ///   reads the log, too. nil means true if there is no log.
    static func queue(_ path: String, isAlone: Bool? = nil) throws -> DatabaseQueue {
        Connections.withoutMemoryPools
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        // Without a log, no program writes to the database. It is opened as immutable, because SQLite would otherwise
        // create a log.
        let isAlone = isAlone ?? (access(path + "-wal", F_OK) != 0)
        let name = isAlone ? "file:\(Self.escaped(path))?immutable=1" : path
        return try DatabaseQueue(path: name, configuration: configuration)
    }

    private init(reading db: Database, _ now: Timestamp, _ fact: String) throws {
        let found = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        guard found == DatabaseKind.merchants.rawValue else {
            if try found == 0 && Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_schema LIMIT 1") == nil {
                throw Unfinished()
            }
            throw MerchantError(
                .storeUnavailable,
                "the file is another program's database: its application_id is \(found), expected \(DatabaseKind.merchants.rawValue)"
            )
        }
        schemaVersion = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        knownSchemaVersion = Schema.migrations.count
        faults = try String.fetchAll(db, sql: "PRAGMA quick_check").filter { $0 != "ok" }
        try Migrations.requireKnown(Schema.migrations, in: db)
        inconsistentContent = schemaVersion < knownSchemaVersion ? [] : IntegrityCheck.findings(in: db)
        let reader = StoreReader(db: db)
        auditBreaks = try Self.auditBreaks(reader)
        dataKeys = try SQLiteStore.dataKeys(in: db)
        guard !dataKeys.isEmpty else { throw Unfinished() }
        counts = try reader.counts(at: now)
        coverage = try? reader.backupCoverage()
        lastRecordAt = try reader.first("SELECT at FROM audit ORDER BY sequence DESC LIMIT 1", []) {
            try $0.timestamp("at")
        }
        ending = try? ExpiryCounts(in: reader, at: now)
        self.fact = (try? reader.daemonFact(fact)).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func auditBreaks(_ reader: StoreReader) throws -> [AuditBreak] {
        var audit = AuditExamination()
        while true {
            let segment = try reader.auditSegment(from: audit.next, limit: 1000)
            for link in segment.links { audit.examine(link) }
            guard segment.links.isEmpty else { continue }
            audit.finish(highestAssigned: segment.highestAssigned)
            audit.checkOrder()
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

/// The data keys that a ``DatabaseInspection`` has read. Refuses new ones.
package struct InspectedDataKeys: DataKeyRepository {
    private let rows: [SealedDataKey]

    package init(_ inspection: DatabaseInspection) { rows = inspection.dataKeys }

    package func dataKeys() throws -> [SealedDataKey] { rows }

    package func insert(_ dataKey: SealedDataKey) throws {
        throw MerchantError(.storeUnavailable, "the database has no data key, expected one")
    }
}

import FoundationEssentials
import GRDB
import Glibc
package import MerchantCore
import Schema
package import Vocabulary

/// Reads a database without changing it, for use while no daemon runs or when it cannot start.
package struct DatabaseInspection: Sendable {
    package let schemaVersion: Int
    /// The version to which this program would upgrade it.
    package let knownSchemaVersion: Int
    /// Faults that SQLite's own check finds; empty for a sound database.
    package let faults: [String]
    /// Rows that satisfy the schema but are not what the daemon wrote.
    package let inconsistentContent: [String]
    /// The faults of the audit chain.
    package let auditBreaks: [AuditBreak]
    package let dataKeys: [SealedDataKey]
    package let counts: StoreCounts
    package let coverage: BackupCoverage?
    /// The time of the last audit record.
    package let lastRecordAt: Timestamp?
    /// nil if it cannot be counted, because the schema is older or an index is missing.
    package let ending: ExpiryCounts?
    /// The value of the requested fact; nil without one.
    package let fact: String?

    /// A first start was interrupted before it created the schema or the first data key. The next start continues.
    package struct Unfinished: Error {}

    /// - Parameter fact: the name of a fact to read.
    /// - Throws: `storeUnavailable` if the file cannot be opened or is not a database of this program; ``Unfinished``.
    package init(of path: String, at now: Timestamp, fact: String) throws {
        self = try SQLiteErrors.translating {
            try Self.read(path) { try Self(reading: $0, now, fact) }
        }
    }

    /// A file without a write-ahead log is read as immutable. If another program changes it meanwhile, it is read again.
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

    /// Whether a database holds an audit record with this hash and passes SQLite's integrity check. Reads the whole file.
    ///
    /// False if the database cannot be read.
    package static func holds(_ head: AuditHead, in path: String) -> Bool {
        (try? read(path) { try holds(head, $0) && isSound($0) }) ?? false
    }

    /// As ``holds(_:in:)``, without the integrity check.
    package static func contains(_ head: AuditHead, in path: String) -> Bool {
        (try? read(path) { try holds(head, $0) }) ?? false
    }

    /// Whether a database's file, without its write-ahead log, lacks an audit record.
    ///
    /// - Parameter isSound: whether the file must also pass the integrity check. After an interrupted checkpoint, a file may seem
    ///   to lack a record that it holds.
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

    /// The value of a fact; nil if there is none or the database cannot be read.
    package static func fact(_ name: String, in path: String) -> String? {
        try? read(path) { try StoreReader(db: $0).daemonFact(name) }
    }

    /// Identifies the contents of a write-ahead log until SQLite restarts it; nil without a log.
    package static func logGeneration(of path: String) -> String? { DatabaseFile.logGeneration(of: path) }

    /// A connection that only reads.
    ///
    /// - Parameter isAlone: whether to ignore a write-ahead log; nil: if there is none.
    static func queue(_ path: String, isAlone: Bool? = nil) throws -> DatabaseQueue {
        Connections.withoutMemoryPools
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        // Without a log no program writes to the database, and SQLite must not create one.
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

    /// Escapes the characters that have a meaning in a URI (RFC 3986). Two slashes at the beginning would introduce a host.
    private static func escaped(_ path: String) -> String {
        (path.hasPrefix("/") ? "/" + path.drop { $0 == "/" } : path).replacing("%", with: "%25").replacing(
            "?", with: "%3F"
        ).replacing("#", with: "%23")
    }
}

/// The data keys of a database that is only inspected.
package struct InspectedDataKeys: DataKeyRepository {
    private let rows: [SealedDataKey]

    package init(_ inspection: DatabaseInspection) { rows = inspection.dataKeys }

    package func dataKeys() throws -> [SealedDataKey] { rows }

    package func insert(_ dataKey: SealedDataKey) throws {
        throw MerchantError(.storeUnavailable, "the database has no data key, expected one")
    }
}

import CSQLite
import GRDB
import MerchantCore

/// The databases of this program, by the `application_id` in their headers.
enum DatabaseKind: Int32 {
    /// "mkdy".
    case merchants = 0x6D6B_6479
    /// "mkcl".
    case claims = 0x6D6B_636C
}

/// Opens connections with the settings that the daemon relies on.
enum Connections {
    static let readers = 4
    static let busyMilliseconds = 5000
    /// Enough for the inner pages of every index at about 100,000 merchants: hashes are inserted at random places.
    private static let writerCacheKilobytes = 16 << 10
    /// In bytes. A longer write-ahead log is truncated to this length after a checkpoint.
    private static let longestIdleLog = 64 << 20

    /// Makes SQLite free memory with the program's `free`, which overwrites it. SQLite's own pools would keep it unchanged.
    ///
    /// Runs once, before the first connection of the process. After SQLite was initialized, it has no effect.
    static let withoutMemoryPools: Void = { _ = csqlite_use_no_pools() }()

    /// Opens one connection that writes and checkpoints, and up to ``readers`` that only read.
    ///
    /// - Parameter trace: receives the text of each statement, without its values.
    static func open(_ place: DatabaseFile.Place, trace: (@Sendable (String) -> Void)?) throws -> DatabasePool {
        withoutMemoryPools
        var configuration = Configuration()
        configuration.label = "merchantkeyd"
        configuration.maximumReaderCount = readers
        configuration.persistentReadOnlyConnections = true
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Double(busyMilliseconds) / 1000)
        configuration.prepareDatabase { db in
            // Readers are opened when they are needed. If another file has the name by then, a reader would combine that file
            // with the log of this one.
            try place.require()
            if !db.configuration.readonly { try refuseForeign(db, path: place.path, kind: .merchants) }
            try db.execute(
                sql: """
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    PRAGMA secure_delete = ON;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA journal_size_limit = \(longestIdleLog);
                    """)
            guard let trace else { return }
            db.trace { if case .statement(let statement) = $0 { trace(statement.sql) } }
        }
        let pool = try DatabasePool(path: place.path, configuration: configuration)
        try pool.writeWithoutTransaction { db in
            // GRDB sets NORMAL after `prepareDatabase`; commits would then survive a crash of the daemon, but no power failure.
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(writerCacheKilobytes)")
            try requireSettings(required, on: db)
        }
        return pool
    }

    /// Opens the one connection for claims. Claims are not secret, so removed ones need not be overwritten.
    static func openClaims(path: String) throws -> DatabaseQueue {
        withoutMemoryPools
        var configuration = Configuration()
        configuration.label = "merchantkeyd.claims"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(Double(busyMilliseconds) / 1000)
        configuration.prepareDatabase { db in
            try refuseForeign(db, path: path, kind: .claims)
            try db.execute(
                sql: """
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA journal_size_limit = \(longestIdleLog);
                    """)
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(writerCacheKilobytes)")
            try requireSettings(required.filter { $0.0 != "secure_delete" }, on: db)
        }
        return queue
    }

    /// The settings that the writing connection must have; `synchronous` 2 is FULL.
    private static let required = [
        ("journal_mode", "wal"), ("synchronous", "2"), ("foreign_keys", "1"), ("secure_delete", "1"),
        ("trusted_schema", "0"), ("cell_size_check", "1"), ("busy_timeout", "\(busyMilliseconds)"),
    ]

    /// The settings in force on a connection.
    static func settings(of db: Database) throws -> [String: String] {
        var settings: [String: String] = [:]
        for (name, _) in required {
            settings[name] = try Row.fetchOne(db, sql: "PRAGMA \(name)").map { row in
                let value: DatabaseValue = row[0]
                return String.fromDatabaseValue(value) ?? Int.fromDatabaseValue(value).map(String.init) ?? ""
            }
        }
        return settings
    }

    /// SQLite ignores settings that it was built without, so they are read back.
    private static func requireSettings(_ required: [(String, String)], on db: Database) throws {
        let settings = try settings(of: db)
        for (name, expected) in required where settings[name] != expected {
            throw MerchantError(
                .storeUnavailable, "SQLite's \(name) is \(settings[name] ?? "unknown"), expected \(expected)")
        }
    }

    /// Refuses another program's file. Runs before any setting, so that the file is not changed.
    static func refuseForeign(_ db: Database, path: String, kind: DatabaseKind) throws {
        let found = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        guard found != kind.rawValue else { return }
        let isEmpty = try Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_master LIMIT 1") == nil
        guard found == 0, isEmpty else {
            throw MerchantError(
                .storeUnavailable,
                "'\(path)' is another program's database: its application_id is \(found), expected \(kind.rawValue)")
        }
    }
}

import CSQLite
import GRDB
import MerchantCore

/// The two databases of this program. Each has its own `application_id` in its file header.
enum DatabaseKind: Int32 {
    /// The main database: "mkdy" in ASCII.
    case merchants = 0x6D6B_6479
    /// The claims database: "mkcl" in ASCII.
    case claims = 0x6D6B_636C
}

/// Opens connections with the settings that the daemon relies on.
enum Connections {
    /// The most connections that only read.
    static let readers = 4
    /// How long a statement waits for a lock that another connection or program holds.
    static let busyMilliseconds = 5000
    /// Large enough for the inner pages of every index at about 100,000 merchants. Hashes are inserted at random places
    /// of an index, so any of these pages may be needed next.
    private static let writerCacheKilobytes = 16 << 10
    /// In bytes. SQLite truncates a longer write-ahead log to this length after a checkpoint.
    private static let longestIdleLog = 64 << 20

    /// Makes SQLite free memory with the program's `free`, which overwrites the memory. SQLite's own pools would keep
    /// the content of freed memory, and with it copies of sealed keys.
    ///
    /// Must be read before the first connection of the process is opened: after SQLite is initialized, it has no
    /// effect. Swift runs its initializer once.
    static let withoutMemoryPools: Void = { _ = csqlite_use_no_pools() }()

    /// Opens the main database: one connection that writes and checkpoints, and up to ``readers`` that only read.
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
            // GRDB opens readers when they are needed. If the path names another file by then, a reader would combine
            // that file with the log of the opened one.
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
            // GRDB sets `synchronous = NORMAL` after `prepareDatabase`. With NORMAL, a commit survives a crash of the
            // daemon, but a power failure may lose it.
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(writerCacheKilobytes)")
            try requireSettings(required, on: db)
        }
        return pool
    }

    /// Opens the claims database with one connection. Claims are not secret, so the bytes of removed claims need not be
    /// overwritten, and `secure_delete` is not required.
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

    /// The settings that the writing connection must have. For `synchronous`, 2 means FULL.
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

    /// Reads the settings back, because SQLite ignores a setting that it was built without.
    ///
    /// - Throws: `storeUnavailable` if a setting differs from `required`.
    private static func requireSettings(_ required: [(String, String)], on db: Database) throws {
        let settings = try settings(of: db)
        for (name, expected) in required where settings[name] != expected {
            throw MerchantError(
                .storeUnavailable, "SQLite's \(name) is \(settings[name] ?? "unknown"), expected \(expected)")
        }
    }

    /// Refuses a database of another program. Accepts an empty database, because it is new. Must be called before any
    /// setting is changed, so that a refused file stays as it is.
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

import CSQLite
import GRDB
import MerchantCore

/// The databases of this program, by the application_id in their headers.
enum DatabaseKind: Int32 {
    /// "mkdy".
    case merchants = 0x6D6B_6479
    /// "mkcl".
    case claims = 0x6D6B_636C
}

/// How the databases' connections are set.
enum Connections {
    static let readers = 4
    static let busyMilliseconds = 5000
    /// Enough for the inner pages of every index at some 100,000 merchants; hashes are written all over them.
    private static let writerCacheKilobytes = 16 << 10
    /// A longer write-ahead log is cut to this length once its content is in the database.
    private static let longestIdleLog = 64 << 20

    /// Freed memory is to be overwritten by the program's `free`, which what SQLite keeps in pools would not pass.
    ///
    /// Done once, by whoever opens the process's first connection. Too late, SQLite declines, and works as it would have.
    static let keepNoPools: Void = { _ = csqlite_use_no_pools() }()

    /// One connection that writes and checkpoints, up to ``readers`` that can only read.
    ///
    /// - Parameter trace: is shown the text of each statement, without its values.
    static func open(_ place: DatabaseFile.Place, trace: (@Sendable (String) -> Void)?) throws -> DatabasePool {
        keepNoPools
        var configuration = Configuration()
        configuration.label = "merchantkeyd"
        configuration.maximumReaderCount = readers
        configuration.persistentReadOnlyConnections = true
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Double(busyMilliseconds) / 1000)
        configuration.prepareDatabase { db in
            // Readers are opened as they are needed: one that reads another file beside our log would read a mixture.
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
            // GRDB sets NORMAL after `prepareDatabase`; a commit would then survive a crash of ours, but no loss of power.
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(writerCacheKilobytes)")
            try requireSettings(required, on: db)
        }
        return pool
    }

    /// One connection, for the claims alone. Nothing in them is secret, so what is removed need not be overwritten.
    static func openClaims(path: String) throws -> DatabaseQueue {
        keepNoPools
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

    /// What the connection that writes must be set to; `synchronous` 2 is FULL.
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

    /// SQLite passes over settings that it was built without.
    private static func requireSettings(_ required: [(String, String)], on db: Database) throws {
        let settings = try settings(of: db)
        for (name, expected) in required where settings[name] != expected {
            throw MerchantError(
                .storeUnavailable, "SQLite's \(name) is \(settings[name] ?? "unknown"), expected \(expected)")
        }
    }

    /// Asked before anything is set, so that a foreign file stays as it was.
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

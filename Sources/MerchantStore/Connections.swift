import GRDB
import MerchantCore

/// How the database's connections are set.
enum Connections {
    /// "mkdy", in the file's header: tells our database from others'.
    static let applicationID: Int32 = 0x6D6B_6479
    static let readers = 4
    static let busyMilliseconds = 5000
    /// A longer write-ahead log is cut to this length once its content is in the database.
    private static let longestIdleLog = 64 << 20

    /// One connection that writes and checkpoints, up to ``readers`` that can only read.
    static func open(path: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "merchantkeyd"
        configuration.maximumReaderCount = readers
        configuration.persistentReadOnlyConnections = true
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Double(busyMilliseconds) / 1000)
        configuration.prepareDatabase { db in
            if !db.configuration.readonly { try refuseForeign(db, path: path) }
            try db.execute(
                sql: """
                    PRAGMA trusted_schema = OFF;
                    PRAGMA cell_size_check = ON;
                    PRAGMA secure_delete = ON;
                    PRAGMA temp_store = MEMORY;
                    PRAGMA journal_size_limit = \(longestIdleLog);
                    """)
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        // GRDB sets NORMAL after `prepareDatabase`; a commit would then survive a crash of ours, but no loss of power.
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            try require("synchronous", is: 2, on: db)
            try require("foreign_keys", is: 1, on: db)
            try require("secure_delete", is: 1, on: db)
        }
        return pool
    }

    /// SQLite ignores settings that it was built without.
    private static func require(_ pragma: String, is expected: Int, on db: Database) throws {
        let found = try Int.fetchOne(db, sql: "PRAGMA \(pragma)")
        guard found == expected else {
            throw MerchantError(
                .storeUnavailable,
                "SQLite's \(pragma) is \(found.map(String.init) ?? "unknown"), expected \(expected)")
        }
    }

    /// Asked before anything is set, so that a foreign file stays as it was.
    private static func refuseForeign(_ db: Database, path: String) throws {
        let found = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        guard found != applicationID else { return }
        let isEmpty = try Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_master LIMIT 1") == nil
        guard found == 0, isEmpty else {
            throw MerchantError(
                .storeUnavailable,
                "'\(path)' is another program's database: its application_id is \(found), expected \(applicationID)")
        }
    }
}

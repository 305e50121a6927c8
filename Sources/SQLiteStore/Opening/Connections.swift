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
    /// The largest number of connections that only read.
    static let maximumReaders = 4
    /// How long a statement waits for a lock that another connection or program holds, before it fails.
    static let busyMilliseconds = 5000
    /// The size of the page cache of the connection that writes. The cache can hold the inner pages of every index of a
    /// database with about 100,000 merchants. Hashes are inserted at random positions of an index, so each insertion
    /// may need any of these pages.
    private static let writerCacheKilobytes = 16 << 10
    /// The longest write-ahead log, in bytes, after a checkpoint: SQLite truncates a longer log to this length.
    private static let longestIdleLog = 64 << 20

    /// Makes SQLite free memory with `free`. The target `CWipingAllocator` replaces glibc's `free` by a function that
    /// overwrites the memory. SQLite's own memory pools would keep copies of sealed keys in freed memory.
    ///
    /// Call this before the process opens its first connection: SQLite ignores the setting after SQLite is initialized.
    static func disableMemoryPools() { memoryPoolsDisabled }

    /// Swift initializes a static property once in each process, when the property is first read.
    private static let memoryPoolsDisabled: Void = { _ = csqlite_use_no_pools() }()

    /// Opens the main database: one connection that writes and checkpoints, and up to ``maximumReaders`` that only
    /// read.
    ///
    /// - Parameter trace: receives the text of each statement, without its values.
    static func open(_ openedFiles: DatabaseFile.OpenedFiles, trace: (@Sendable (String) -> Void)?) throws
        -> DatabasePool
    {
        disableMemoryPools()
        var configuration = Configuration()
        configuration.label = "merchantkeyd"
        configuration.maximumReaderCount = maximumReaders
        // GRDB does not close idle readers, so that no read waits until a reader is opened again.
        configuration.persistentReadOnlyConnections = true
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(Double(busyMilliseconds) / 1000)
        configuration.prepareDatabase { db in
            // A reader may be opened again later; see ``ReaderOpening``. If the path names another file by then, the
            // reader would combine that other file with the write-ahead log of the opened file.
            try openedFiles.requireOriginalFiles()
            if !db.configuration.readonly { try refuseForeignDatabase(db, path: openedFiles.path, kind: .merchants) }
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
        let pool = try DatabasePool(path: openedFiles.path, configuration: configuration)
        try pool.writeWithoutTransaction { db in
            // Set here, because GRDB sets `synchronous = NORMAL` after `prepareDatabase`. With NORMAL, a commit
            // survives a crash of the daemon, but a power failure may lose the commit.
            try db.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -\(writerCacheKilobytes)")
            try requireSettingsInForce(requiredSettings, on: db)
        }
        return pool
    }

    /// Opens the claims database with one connection. Claims are not secret, so `secure_delete`, which overwrites
    /// deleted rows, is not required.
    static func openClaims(path: String) throws -> DatabaseQueue {
        disableMemoryPools()
        var configuration = Configuration()
        configuration.label = "merchantkeyd.claims"
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(Double(busyMilliseconds) / 1000)
        configuration.prepareDatabase { db in
            try refuseForeignDatabase(db, path: path, kind: .claims)
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
            try requireSettingsInForce(requiredSettings.filter { $0.0 != "secure_delete" }, on: db)
        }
        return queue
    }

    /// The settings that the writing connection must have. For `synchronous`, 2 means FULL.
    private static let requiredSettings = [
        ("journal_mode", "wal"), ("synchronous", "2"), ("foreign_keys", "1"), ("secure_delete", "1"),
        ("trusted_schema", "0"), ("cell_size_check", "1"), ("busy_timeout", "\(busyMilliseconds)"),
    ]

    /// The settings in force on a connection.
    static func settings(of db: Database) throws -> [String: String] {
        var settings: [String: String] = [:]
        for (name, _) in requiredSettings {
            settings[name] = try Row.fetchOne(db, sql: "PRAGMA \(name)").map { row in
                let value: DatabaseValue = row[0]
                return String.fromDatabaseValue(value) ?? Int.fromDatabaseValue(value).map(String.init) ?? ""
            }
        }
        return settings
    }

    /// Reads each setting back, because SQLite ignores settings that its build does not support.
    ///
    /// - Throws: `storeUnavailable` if a setting differs from `required`.
    private static func requireSettingsInForce(_ required: [(String, String)], on db: Database) throws {
        let settings = try settings(of: db)
        for (name, expected) in required where settings[name] != expected {
            throw MerchantError(
                .storeUnavailable,
                "SQLite's setting \(name) is \(settings[name] ?? "unknown") and cannot be set to \(expected): install an SQLite library that supports this setting"
            )
        }
    }

    /// Refuses a database of another program. Accepts an empty database, because the daemon creates an empty file
    /// before it creates the schema. Must be called before any setting is changed, so that a refused file is not
    /// modified.
    static func refuseForeignDatabase(_ db: Database, path: String, kind: DatabaseKind) throws {
        let found = try Int32.fetchOne(db, sql: "PRAGMA application_id") ?? 0
        guard found != kind.rawValue else { return }
        let isEmpty = try Row.fetchOne(db, sql: "SELECT 1 FROM sqlite_master LIMIT 1") == nil
        guard found == 0, isEmpty else {
            throw MerchantError(
                .storeUnavailable,
                "'\(path)' is another program's database: its application_id is \(found), expected \(kind.rawValue); check the path in the settings"
            )
        }
    }
}

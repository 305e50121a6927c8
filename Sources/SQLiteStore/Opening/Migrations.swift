import Crypto
import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// Upgrades the schema of a database.
enum Migrations {
    /// Runs the migrations that were not yet applied to the database. Each runs in a transaction of its own, which also
    /// adds a row to the table `migrations` and sets the pragma `user_version` to the number of the migration.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` if a newer program wrote the database, or if an applied migration
    ///   differs from this program's.
    static func apply(
        _ migrations: [(name: String, sql: String)], to db: Database, kind: DatabaseKind, at now: Timestamp
    ) throws {
        let version = try requireKnownMigrations(migrations, in: db)
        for index in version..<migrations.count {
            try db.inTransaction(.exclusive) {
                try run(migrations[index], version: index + 1, on: db, kind: kind, at: now)
                return .commit
            }
        }
    }

    /// Checks that `migrations` contains each migration that was applied to the database, with the same text.
    ///
    /// - Returns: the schema version of the database: the number of applied migrations.
    /// - Throws: as ``apply(_:to:kind:at:)``.
    @discardableResult
    static func requireKnownMigrations(_ migrations: [(name: String, sql: String)], in db: Database) throws -> Int {
        var version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        // In a new database, `user_version` is 0 and the table `migrations` does not exist yet.
        if version > 0 {
            version = try max(version, Int.fetchOne(db, sql: "SELECT max(version) FROM migrations") ?? 0)
        }
        guard version <= migrations.count else {
            throw MerchantError(
                .storeUnavailable,
                "the database has schema version \(version), this program supports at most \(migrations.count): a newer version of this program wrote the database, start that version"
            )
        }
        for index in 0..<version { try requireSameText(migrations[index], version: index + 1, in: db) }
        return version
    }

    private static func run(
        _ migration: (name: String, sql: String), version: Int, on db: Database, kind: DatabaseKind,
        at now: Timestamp
    ) throws {
        try db.execute(sql: migration.sql)
        try db.execute(
            sql: "INSERT INTO migrations (version, name, sha256, applied_at) VALUES (?, ?, ?, ?)",
            arguments: [version, migration.name, digest(of: migration.sql), now.millisecondsSince1970])
        // A pragma accepts no bound arguments. Both values are integers, so they need no escaping.
        try db.execute(sql: "PRAGMA application_id = \(kind.rawValue)")
        try db.execute(sql: "PRAGMA user_version = \(version)")
    }

    private static func requireSameText(
        _ migration: (name: String, sql: String), version: Int, in db: Database
    ) throws {
        let applied = try Row.fetchOne(
            db, sql: "SELECT name, sha256 FROM migrations WHERE version = ?", arguments: [version])
        guard let applied, try applied.decode(String.self, forColumn: "name") == migration.name,
            try applied.decode(Data.self, forColumn: "sha256") == digest(of: migration.sql)
        else {
            throw MerchantError(
                .storeUnavailable,
                "migration \(migration.name) of the database differs from the one in this program: another build created the database, start that build"
            )
        }
    }

    private static func digest(of sql: String) -> Data { Data(SHA256.hash(data: Data(sql.utf8))) }
}

import Crypto
import FoundationEssentials
import GRDB
import MerchantCore
import Vocabulary

/// Upgrades the schema of a database.
enum Migrations {
    /// Runs the migrations that were not yet applied to the database. Each runs in one transaction, which also inserts
    /// its row into `migrations` and sets the database's `user_version`.
    ///
    /// - Throws: ``MerchantError`` `storeUnavailable` if a newer program wrote the database, or if an applied migration
    ///   differs from this program's.
    static func apply(
        _ migrations: [(name: String, sql: String)], to db: Database, kind: DatabaseKind, at now: Timestamp
    ) throws {
        let version = try requireKnown(migrations, in: db)
        for index in version..<migrations.count {
            try db.inTransaction(.exclusive) {
                try run(migrations[index], version: index + 1, on: db, kind: kind, at: now)
                return .commit
            }
        }
    }

    /// Compares the migrations that were applied to the database with `migrations`. Changes nothing.
    ///
    /// - Returns: the schema's version.
    /// - Throws: as ``apply(_:to:kind:at:)``.
    @discardableResult
    static func requireKnown(_ migrations: [(name: String, sql: String)], in db: Database) throws -> Int {
        var version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        if version > 0 {
            version = try max(version, Int.fetchOne(db, sql: "SELECT max(version) FROM migrations") ?? 0)
        }
        guard version <= migrations.count else {
            throw MerchantError(
                .storeUnavailable,
                "the database has schema version \(version), this program supports at most \(migrations.count): a newer version of the program wrote it, start that version"
            )
        }
        for index in 0..<version { try compare(migrations[index], version: index + 1, with: db) }
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

    private static func compare(
        _ migration: (name: String, sql: String), version: Int, with db: Database
    ) throws {
        let applied = try Row.fetchOne(
            db, sql: "SELECT name, sha256 FROM migrations WHERE version = ?", arguments: [version])
        guard let applied, try applied.decode(String.self, forColumn: "name") == migration.name,
            try applied.decode(Data.self, forColumn: "sha256") == digest(of: migration.sql)
        else {
            throw MerchantError(
                .storeUnavailable,
                "the database was created with a different text of migration \(migration.name) than this program has: start the program that created it"
            )
        }
    }

    private static func digest(of sql: String) -> Data { Data(SHA256.hash(data: Data(sql.utf8))) }
}

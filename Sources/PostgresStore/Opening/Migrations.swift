import Crypto
import FoundationEssentials
import MerchantCore
import Schema
import StoreCore
import Vocabulary

/// Upgrades the schema of a database.
enum Migrations {
    /// The number of the advisory lock that a program holds while it upgrades a schema: "mkdy" in ASCII.
    private static let lock = 0x6D6B_6479

    /// Runs the migrations that were not yet applied to the database, each in a transaction of its own. If several
    /// daemons start at the same time, one runs the migrations and the others wait for it.
    ///
    /// - Parameters:
    ///   - grantsPrivileges: whether to grant the privileges of the daemon's role even if no migration was run.
    ///   - acceptsUnfinishedCopy: whether to accept the target of an unfinished copy. Only the copy itself passes true.
    /// - Returns: the schema version before the upgrade.
    /// - Throws: ``MerchantError`` `storeUnavailable` if the database belongs to another program, if its schema is more
    ///   than one version newer than this program's, if an applied migration differs from this program's, if this role
    ///   may not upgrade the schema, or if the database is an unfinished copy.
    static func apply(
        _ migrations: [(name: String, sql: String)], on connection: Connection, at now: Timestamp,
        grantingPrivileges grantsPrivileges: Bool = false, acceptsUnfinishedCopy: Bool = false
    ) throws -> Int {
        // A migration of a large table can take longer than a statement of a request.
        try connection.removeTimeLimits()
        try connection.run("SELECT pg_advisory_lock(\(lock))")
        defer { _ = try? connection.run("SELECT pg_advisory_unlock(\(lock))") }
        let version = try requireUpgradable(
            migrations, on: connection, acceptsUnfinishedCopy: acceptsUnfinishedCopy)
        // The schema may be one version newer than this program.
        let missing = version < migrations.count ? version..<migrations.count : 0..<0
        for index in missing {
            try connection.inTransaction {
                try run(migrations[index], version: index + 1, on: connection, at: now)
            }
        }
        if grantsPrivileges || !missing.isEmpty {
            try connection.inTransaction { try connection.run(Schema.postgresqlRights) }
        }
        return version
    }

    /// Checks what ``apply(_:on:at:grantingPrivileges:acceptsUnfinishedCopy:)`` requires of a database. Changes
    /// nothing.
    ///
    /// - Returns: the schema version of the database; 0 if it has no schema.
    static func requireUpgradable(
        _ migrations: [(name: String, sql: String)], on connection: Connection, acceptsUnfinishedCopy: Bool = false
    ) throws -> Int {
        switch try InstanceGuard.check(connection) {
        case .empty:
            try InstanceGuard.requireCreatable(connection)
            return 0
        case .unfinishedCopy where !acceptsUnfinishedCopy: throw InstanceGuard.unfinishedCopy(connection)
        case .merchantkeyd, .unfinishedCopy:
            let version = try requireKnownMigrations(migrations, on: connection)
            if version < migrations.count { try requireOwner(connection, version: version, newest: migrations.count) }
            return version
        }
    }

    /// Only the owner may change the schema, and the daemon's role need not be the owner.
    private static func requireOwner(_ connection: Connection, version: Int, newest: Int) throws {
        guard try !InstanceGuard.isOwner(connection) else { return }
        throw MerchantError(
            .storeUnavailable,
            "the database has schema version \(version), this program needs \(newest), and the daemon's role may not change the schema: run 'merchantkeyd migrate' as the owner of the database"
        )
    }

    /// Creates the schema in the connection's open transaction.
    static func create(
        _ migrations: [(name: String, sql: String)], on connection: Connection, at now: Timestamp
    ) throws {
        for (index, migration) in migrations.enumerated() {
            try run(migration, version: index + 1, on: connection, at: now)
        }
        try connection.run(Schema.postgresqlRights)
    }

    /// Checks that exactly `migrations` were applied to the database.
    ///
    /// - Throws: `storeUnavailable`.
    static func requireCurrent(_ migrations: [(name: String, sql: String)], on connection: Connection) throws {
        let version = try requireKnownMigrations(migrations, on: connection)
        guard version == migrations.count else {
            throw MerchantError(
                .storeUnavailable,
                "the database has schema version \(version), expected \(migrations.count): upgrade merchantkeyd to the newest version, and run 'merchantkeyd migrate'"
            )
        }
    }

    /// Checks that `migrations` contains each migration that was applied to the database, with the same text.
    ///
    /// The database may have one further migration, from the next version of the program. Each version can use the
    /// schema of the next version, so that daemons can be upgraded one after another.
    ///
    /// - Returns: the schema version of the database: the number of applied migrations.
    private static func requireKnownMigrations(
        _ migrations: [(name: String, sql: String)], on connection: Connection
    ) throws -> Int {
        let applied = try connection.query("SELECT version, name, sha256 FROM migrations ORDER BY version").rows.map {
            (version: try $0.integer("version"), name: try $0.text("name"), digest: try $0.bytes("sha256"))
        }
        let version = applied.last?.version ?? 0
        guard version <= migrations.count + 1 else {
            throw MerchantError(
                .storeUnavailable,
                "the database has schema version \(version), this program supports at most \(migrations.count + 1): a newer version of this program wrote the database, start that version"
            )
        }
        for (index, migration) in migrations.prefix(version).enumerated() {
            guard applied.indices.contains(index), applied[index].version == index + 1,
                applied[index].name == migration.name, applied[index].digest == digest(of: migration.sql)
            else {
                throw MerchantError(
                    .storeUnavailable,
                    "migration \(migration.name) of the database differs from the one in this program: another build created the database, start that build"
                )
            }
        }
        return version
    }

    private static func run(
        _ migration: (name: String, sql: String), version: Int, on connection: Connection, at now: Timestamp
    ) throws {
        try connection.run(migration.sql)
        _ = try connection.query(
            "INSERT INTO migrations (version, name, sha256, applied_at) VALUES ($1, $2, $3, $4)",
            [version, migration.name, digest(of: migration.sql), now])
    }

    private static func digest(of sql: String) -> [UInt8] { Array(SHA256.hash(data: Data(sql.utf8))) }
}

package import MerchantCore
import Schema

/// A PostgreSQL database with the current schema, from which a ``PostgresStore`` is built.
///
/// Opening and building are two steps, because the store's initializer needs values from the database, such as the last
/// confirmed time.
package struct PostgresDatabase: Sendable {
    let opener: ConnectionOpener

    init(opener: ConnectionOpener) { self.opener = opener }

    /// Connects to the database, creates the schema if there is none, and upgrades it. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - clock: gives the time that is stored with each applied migration.
    ///   - durability: whether the server's settings must ensure that a commit is on stable storage when it returns;
    ///     only tests pass `notRequired`.
    ///   - notice: receives the notices of the server: severity, SQLSTATE and message.
    ///   - migrations: the migrations of the schema, oldest first; tests pass their own.
    ///   - acceptsUnfinishedCopy: whether to accept the target of an unfinished copy. Only the copy itself passes true,
    ///     to verify its target.
    /// - Throws: ``MerchantError`` `storeUnavailable` for a server that cannot be reached or used, for a database of
    ///   another program, and for a schema that is more than one version newer than this program's. Such a database is
    ///   not changed.
    package init(
        _ settings: ConnectionSettings, clock: any WallClock, durability: Durability = .required,
        notice: @escaping @Sendable (_ severity: String, _ sqlState: String, _ message: String) -> Void = { _, _, _ in
        },
        migrations: [(name: String, sql: String)] = Schema.postgresqlMigrations,
        acceptsUnfinishedCopy: Bool = false
    ) throws {
        let opener = ConnectionOpener(settings: settings, notices: NoticeHandler(notice), durability: durability)
        try PostgresErrors.translating {
            let connection = try opener.open().connection
            _ = try Migrations.apply(
                migrations, on: connection, at: clock.now, acceptsUnfinishedCopy: acceptsUnfinishedCopy)
            try Self.requirePrivileges(connection)
        }
        self.opener = opener
    }

    /// Creates or upgrades the schema, and grants the role `merchantkeyd_daemon` its privileges, if there is such a
    /// role. Blocks the calling thread.
    ///
    /// - Returns: the schema version before the upgrade, 0 for an empty database, and the version after it.
    package static func migrate(
        _ settings: ConnectionSettings, clock: any WallClock, durability: Durability = .required,
        migrations: [(name: String, sql: String)] = Schema.postgresqlMigrations
    ) throws -> (before: Int, now: Int) {
        let opener = ConnectionOpener(settings: settings, notices: .ignoring, durability: durability)
        let before = try PostgresErrors.translating {
            try Migrations.apply(migrations, on: try opener.open().connection, at: clock.now, grantingPrivileges: true)
        }
        return (before, max(before, migrations.count))
    }

    /// The same database, for a daemon that has seen audit records. If the database lacks the record `known`, as after
    /// a failover that lost transactions, every new connection is refused, and all reads and changes fail with
    /// `storeUnavailable`.
    package func requiring(_ known: KnownAuditHead) -> PostgresDatabase {
        var opener = opener
        opener.knownAuditHead = known
        return PostgresDatabase(opener: opener)
    }

    /// Checks that the server, the database and the role permit as many connections as a daemon may open. Blocks the
    /// calling thread.
    ///
    /// - Throws: `storeUnavailable`.
    package func requireConnections() throws {
        try PostgresErrors.translating { try ServerChecks.requireConnections(try opener.open().connection) }
    }

    /// Whether a daemon has used the database before. Blocks the calling thread.
    package func hasDataKeys() throws -> Bool {
        try PostgresErrors.translating {
            try opener.open().connection.query("SELECT EXISTS (SELECT FROM data_keys) AS found").first?.flag("found")
                ?? false
        }
    }

    /// Reads on the calling thread, and blocks that thread.
    package func read<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result {
        try PostgresErrors.translating {
            let connection = try opener.open().connection
            try connection.run(PostgresStore.beginReading)
            return try body(StoreReader(connection: connection))
        }
    }
}

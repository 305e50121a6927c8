package import MerchantCore
import Schema
import StoreCore

/// What a check of the settings reads, without changing the database. Each method blocks the calling thread.
extension PostgresDatabase {
    /// Connects to the database, and checks what a start requires of the server and of the schema.
    ///
    /// - Returns: nil if the database has no schema yet; a start creates it.
    /// - Throws: ``MerchantError`` `storeUnavailable` if a start would be refused.
    package static func check(
        _ settings: ConnectionSettings, durability: Durability = .required
    ) throws -> PostgresDatabase? {
        let opener = ConnectionOpener(settings: settings, notices: .ignoring, durability: durability)
        return try PostgresErrors.translating {
            let connection = try opener.open().connection
            try ServerChecks.requireConnections(connection)
            guard try Migrations.requireUpgradable(Schema.postgresqlMigrations, on: connection) > 0 else { return nil }
            try requirePrivileges(connection)
            return PostgresDatabase(opener: opener)
        }
    }

    /// Checks the privileges on some tables that a start or the first request writes. This is enough, because `migrate`
    /// grants all privileges together.
    static func requirePrivileges(_ connection: Connection) throws {
        let missing = try connection.run(
            """
            SELECT string_agg(name, ', ') FROM unnest(ARRAY['nodes', 'audit', 'key_pairs', 'claims', 'nonces']) AS name
            WHERE NOT has_table_privilege('merchantkeyd.' || name, 'SELECT')
                OR NOT has_table_privilege('merchantkeyd.' || name, 'INSERT')
            """)
        guard let missing else { return }
        throw MerchantError(
            .storeUnavailable,
            "the role of the connection may not write the tables \(missing): run 'merchantkeyd migrate' as the owner of the database, which grants the privileges to the role merchantkeyd_daemon, and connect as a member of that role"
        )
    }

    /// Runs `body` on the content and the data keys of the database.
    package func readWithDataKeys<Result>(
        _ body: (any RepositoryReading, [SealedDataKey]) throws -> Result
    ) throws -> Result {
        try PostgresErrors.translating {
            let connection = try opener.open().connection
            try connection.run(PostgresStore.beginReading)
            let reader = StoreReader(connection: connection)
            return try body(reader, try reader.dataKeys())
        }
    }

    /// The daemons that use the database or used it in the last week.
    ///
    /// - Parameter node: the daemon for which ``NodeState/isThisDaemon`` is true.
    package func nodes(seenBy node: Node) throws -> [NodeState] {
        try PostgresErrors.translating { try NodeRows(connection: try opener.open().connection, node: node).all() }
    }
}

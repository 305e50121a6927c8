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
        let version = try PostgresErrors.translating {
            try Migrations.requireUpgradable(Schema.postgresqlMigrations, on: try opener.open().connection)
        }
        return version == 0 ? nil : PostgresDatabase(opener: opener)
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

    /// The daemons on the database.
    ///
    /// - Parameter node: the daemon for which ``NodeState/isThisDaemon`` is true.
    package func nodes(seenBy node: Node) throws -> [NodeState] {
        try PostgresErrors.translating { try NodeRows(connection: try opener.open().connection, node: node).all() }
    }
}

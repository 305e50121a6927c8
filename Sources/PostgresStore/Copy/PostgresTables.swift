import MerchantCore
import Schema
package import StoreCore

/// Reads the tables of a PostgreSQL database for a copy. Changes nothing.
package struct PostgresTables: TableReading {
    let connection: Connection
    let catalog: TableCatalog

    /// Connects, and begins a transaction, so that all tables are read in one state of the database.
    ///
    /// - Parameters:
    ///   - asOwner: whether the role must be the owner of the schema.
    ///   - durability: only tests pass `notRequired`.
    /// - Throws: `storeUnavailable` for a server that cannot be reached or used, for a database that is empty, belongs
    ///   to another program or is an unfinished copy, for another version of the schema, and for a role that is not the
    ///   owner of the schema if `asOwner` is true.
    package init(
        _ settings: ConnectionSettings, asOwner: Bool = true, durability: Durability = .required
    ) throws {
        self = try PostgresErrors.translating {
            let connection = try Self.connect(settings, durability)
            switch try InstanceGuard.check(connection) {
            case .merchantkeyd: break
            case .unfinishedCopy: throw InstanceGuard.unfinishedCopy(connection)
            case .empty:
                throw MerchantError(
                    .storeUnavailable,
                    "the PostgreSQL database \(settings.databaseName) has no schema merchantkeyd, so there is nothing to copy: check the connection string"
                )
            }
            try Migrations.requireCurrent(Schema.postgresqlMigrations, on: connection)
            if asOwner { try Self.requireOwner(connection) }
            let catalog = try TableCatalog(connection)
            try connection.run(PostgresStore.beginReading)
            return Self(connection, catalog)
        }
    }

    init(_ connection: Connection, _ catalog: TableCatalog) {
        self.connection = connection
        self.catalog = catalog
    }

    /// A connection without time limits, because a statement on a large table can take long.
    static func connect(_ settings: ConnectionSettings, _ durability: Durability) throws -> Connection {
        let opener = ConnectionOpener(settings: settings, notices: .ignoring, durability: durability)
        let connection = try opener.open().connection
        try connection.removeTimeLimits()
        try connection.run("SET idle_in_transaction_session_timeout = 0; SET idle_session_timeout = 0")
        return connection
    }

    /// Checks that the role owns the schema. PostgreSQL does not let other roles disable a trigger.
    static func requireOwner(_ connection: Connection) throws {
        guard try !InstanceGuard.isOwner(connection) else { return }
        throw MerchantError(
            .storeUnavailable,
            "the role of the connection string is not the owner of the schema merchantkeyd: name the owner, which created the schema, in the connection string for this command"
        )
    }

    package func tables() throws -> [CopiedTable] { catalog.tables }

    package func rows(of table: CopiedTable, after key: CopiedRow?, limit: Int) throws -> [CopiedRow] {
        try PostgresErrors.translating {
            let columns = table.columns.map { $0.name.quoted }.joined(separator: ", ")
            let order = table.key.map(\.quoted).joined(separator: ", ")
            let parameters = table.key.indices.map { "$\($0 + 1)" }.joined(separator: ", ")
            let condition = key == nil ? "" : "WHERE (\(order)) > (\(parameters))"
            return try connection.query(
                "SELECT \(columns) FROM \(table.name.quoted) \(condition) ORDER BY \(order) LIMIT \(limit)",
                (key ?? []).map { $0 as (any SQLValue)? }
            ).copiedRows(of: table)
        }
    }

    package func lastKey(of table: CopiedTable) throws -> CopiedRow? {
        try PostgresErrors.translating {
            let columns = table.columns.map { $0.name.quoted }.joined(separator: ", ")
            let order = table.key.map { "\($0.quoted) DESC" }.joined(separator: ", ")
            return try connection.query("SELECT \(columns) FROM \(table.name.quoted) ORDER BY \(order) LIMIT 1")
                .copiedRows(of: table).first.map(table.key(of:))
        }
    }

    package func assignedNumbers() throws -> [String: Int64] {
        try PostgresErrors.translating {
            var numbers: [String: Int64] = [:]
            for (table, column) in catalog.identities {
                let sequence = "pg_get_serial_sequence('merchantkeyd.\(table.quoted)', '\(column)')"
                let last = try connection.run("SELECT pg_sequence_last_value(\(sequence))")
                if let last = last.flatMap({ Int64($0) }) { numbers[table] = last }
            }
            // The table `audit` has no identity column. The row of `audit_head` contains its highest number.
            if let row = try connection.query("SELECT sequence FROM audit_head WHERE id = 1").first {
                numbers["audit"] = try row.int64("sequence")
            }
            return numbers
        }
    }
}

extension String {
    /// The name of a table or column as an identifier of SQL.
    var quoted: String { "\"\(replacing("\"", with: "\"\""))\"" }
}

package import MerchantCore
import Schema
package import StoreCore
import Vocabulary

/// The PostgreSQL database to which a store is copied. Until the copy is finished, the database contains a table that
/// makes daemons refuse it.
package struct PostgresCopy: TableWriting {
    package let reader: PostgresTables
    /// Whether an earlier run has copied a part of the rows.
    package let isResumed: Bool
    /// The schema that contains the data from before the copy; nil if there was none.
    package let keptSchema: String?

    private var connection: Connection { reader.connection }

    /// What happens to the content of the database.
    package enum Content {
        /// Resumes an unfinished copy of the same data, and removes an unfinished copy of other data. Refuses a
        /// database that contains data of a daemon.
        case resumed
        /// Keeps the data of a daemon in a schema with this name, and copies the claims of this data. Removes an
        /// unfinished copy. If the unfinished copy has kept a daemon's data in another schema, the data stays there,
        /// and its claims are copied again.
        case replaced(keptAs: String)
    }

    /// How the names of the schemas begin in which restores keep the data that they replace.
    package static let keptSchemaPrefix = "merchantkeyd_replaced_"

    /// Creates the schema, or resumes an unfinished copy of the same data.
    ///
    /// - Parameter durability: only tests pass `notRequired`.
    /// - Throws: `storeUnavailable` if the database has content that must not be resumed or replaced, and for the
    ///   reasons of ``PostgresTables/init(_:asOwner:durability:)``.
    package init(
        _ settings: ConnectionSettings, mark: UnfinishedCopyMark, content: Content = .resumed, clock: any WallClock,
        durability: Durability = .required
    ) throws {
        self = try PostgresErrors.translating {
            let connection = try PostgresTables.connect(settings, durability)
            let found = try InstanceGuard.check(connection)
            if found != .empty { try PostgresTables.requireOwner(connection) }
            var (isResumed, kept): (Bool, String?) = (false, nil)
            switch (found, content) {
            case (.empty, _): try Self.create(connection, mark, at: clock.now)
            case (.unfinishedCopy, .resumed):
                isResumed = try Self.mark(on: connection) == mark && Self.isCurrent(connection)
                if !isResumed { try Self.create(connection, mark, at: clock.now) }
            case (.unfinishedCopy, .replaced):
                kept = try UnfinishedCopyMark.keptSchema(on: connection)
                try Self.create(connection, mark, claimsFrom: kept, at: clock.now)
            case (.merchantkeyd, _) where try Self.isUnused(connection):
                try Self.create(connection, mark, at: clock.now)
            case (.merchantkeyd, .replaced(let schema)):
                try Migrations.requireCurrent(Schema.postgresqlMigrations, on: connection)
                try Self.create(connection, mark, claimsFrom: schema, keepsData: true, at: clock.now)
                kept = schema
            case (.merchantkeyd, .resumed):
                throw MerchantError(
                    .storeUnavailable,
                    "the PostgreSQL database \(settings.databaseName) already contains data of merchantkeyd, which a copy would replace: name an empty database in the connection string"
                )
            }
            return Self(
                PostgresTables(connection, try TableCatalog(connection)), isResumed: isResumed, keptSchema: kept)
        }
    }

    /// Whether the database contains data of a daemon. Blocks the calling thread.
    ///
    /// - Returns: nil for an unfinished copy.
    /// - Throws: as ``PostgresTables/init(_:asOwner:durability:)``, but not for an empty database, an unfinished copy
    ///   or another version of the schema.
    package static func hasData(_ settings: ConnectionSettings, durability: Durability = .required) throws -> Bool? {
        try PostgresErrors.translating {
            let connection = try PostgresTables.connect(settings, durability)
            switch try InstanceGuard.check(connection) {
            case .empty: return false
            case .unfinishedCopy:
                try PostgresTables.requireOwner(connection)
                return nil
            case .merchantkeyd:
                try PostgresTables.requireOwner(connection)
                return try !isUnused(connection)
            }
        }
    }

    private init(_ reader: PostgresTables, isResumed: Bool, keptSchema: String?) {
        self.reader = reader
        self.isResumed = isResumed
        self.keptSchema = keptSchema
    }

    /// Whether a daemon has created the schema, but has stored nothing in it.
    private static func isUnused(_ connection: Connection) throws -> Bool {
        for table in try TableCatalog(connection).tables.map(\.name)
        where CopyPlan.exceptions[table] == nil && table != "totals" {
            guard try connection.query("SELECT 1 AS found FROM \(table.quoted) LIMIT 1").first == nil else {
                return false
            }
        }
        return true
    }

    private static func isCurrent(_ connection: Connection) -> Bool {
        (try? Migrations.requireCurrent(Schema.postgresqlMigrations, on: connection)) != nil
    }

    /// - Parameters:
    ///   - kept: the schema with earlier data, whose claims are copied; nil if there is none.
    ///   - keepsData: whether the schema `merchantkeyd` is renamed to `kept`; otherwise it is removed.
    private static func create(
        _ connection: Connection, _ mark: UnfinishedCopyMark, claimsFrom kept: String? = nil, keepsData: Bool = false,
        at now: Timestamp
    ) throws {
        try connection.inTransaction {
            if keepsData {
                // Waits for transactions of a daemon that has no lease any more.
                try connection.run("SET LOCAL lock_timeout = '30s'")
                try connection.run("LOCK TABLE audit_head, claims, nonces IN EXCLUSIVE MODE")
            }
            // The new schema belongs to the role that owned the old one, also if a superuser runs the command: the
            // daemons may connect as that role.
            let owner = try connection.run("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'merchantkeyd'")
            if let owner { try connection.run("SET LOCAL ROLE \(owner)") }
            if let kept, keepsData {
                try connection.run("ALTER SCHEMA merchantkeyd RENAME TO \(kept.quoted)")
            } else {
                try connection.run("DROP SCHEMA IF EXISTS merchantkeyd CASCADE")
            }
            try Migrations.create(Schema.postgresqlMigrations, on: connection, at: now)
            if let kept {
                // A token that was used before must not be accepted again.
                for table in CopyPlan.tablesOfClaims.sorted() {
                    try connection.run(
                        "INSERT INTO \(table) OVERRIDING SYSTEM VALUE SELECT * FROM \(kept.quoted).\(table)")
                }
            }
            // The migrations insert these rows, but the copy inserts the rows of the source.
            try connection.run("DELETE FROM totals")
            try connection.run(
                """
                CREATE TABLE \(UnfinishedCopyMark.table) (
                    id smallint PRIMARY KEY CHECK (id = 1),
                    audit_sequence bigint NOT NULL,
                    audit_hash bytea NOT NULL,
                    kept_schema text
                )
                """)
            _ = try connection.query(
                """
                INSERT INTO \(UnfinishedCopyMark.table) (id, audit_sequence, audit_hash, kept_schema)
                VALUES (1, $1, $2, $3)
                """,
                [mark.sourceHead.sequence, mark.sourceHead.hash, kept])
        }
    }

    private static func mark(on connection: Connection) throws -> UnfinishedCopyMark? {
        try connection.query("SELECT audit_sequence, audit_hash FROM \(UnfinishedCopyMark.table) WHERE id = 1").first
            .map {
                UnfinishedCopyMark(
                    sourceHead: AuditHead(sequence: try $0.integer("audit_sequence"), hash: try $0.bytes("audit_hash")))
            }
    }
}

// MARK: - Reading and writing

extension PostgresCopy {
    package func write(to table: CopiedTable, _ body: (_ insert: ([CopiedRow]) throws -> Void) throws -> Void) throws {
        let columns = try reader.catalog.writableColumns(of: table)
        let names = columns.map(\.name.quoted).joined(separator: ", ")
        let statement = "COPY \(table.name.quoted) (\(names)) FROM STDIN (FORMAT binary)"
        try withoutTriggers(of: table.name) {
            try body { rows in
                let values = rows.map { row in columns.map { row[$0.index] } }
                try PostgresErrors.translating {
                    try connection.copy(statement, try CopyData(values, as: columns.map(\.type)))
                }
            }
        }
    }

    /// Runs `body` in a transaction in which the triggers of the schema do not fire for a table. The triggers that
    /// check foreign keys belong to PostgreSQL and still fire. If the transaction fails, the triggers are as before.
    private func withoutTriggers(of table: String, _ body: () throws -> Void) throws {
        try PostgresErrors.translating {
            try connection.inTransaction {
                try connection.run("ALTER TABLE \(table.quoted) DISABLE TRIGGER USER")
                try body()
                try connection.run("ALTER TABLE \(table.quoted) ENABLE TRIGGER USER")
            }
        }
    }

    package func setAssignedNumbers(_ numbers: [String: Int64]) throws {
        try PostgresErrors.translating {
            for (table, column) in reader.catalog.identities {
                let highest = try connection.query(
                    "SELECT max(\(column.quoted)) AS highest FROM \(table.quoted)"
                ).first?.int64IfAny("highest")
                guard let last = [highest, numbers[table]].compactMap(\.self).max(), last > 0 else { continue }
                try connection.run(
                    "SELECT setval(pg_get_serial_sequence('merchantkeyd.\(table.quoted)', '\(column)'), \(last))")
            }
        }
        guard let sequence = numbers["audit"] else { return }
        try withoutTriggers(of: "audit_head") {
            _ = try connection.query(
                """
                UPDATE audit_head SET sequence = $1,
                    hash = coalesce((SELECT hash FROM audit ORDER BY sequence DESC LIMIT 1), zeros(32))
                WHERE id = 1
                """, [sequence])
        }
    }

    /// Prepares the database for daemons: collects statistics for the query planner, and checks that every trigger
    /// fires again.
    ///
    /// - Throws: `internalError` if a trigger is disabled.
    package func prepareForUse() throws {
        try PostgresErrors.translating {
            for table in reader.catalog.tables { try connection.run("ANALYZE \(table.name.quoted)") }
            let disabled = try connection.run(
                """
                SELECT count(*) FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
                WHERE c.relnamespace = 'merchantkeyd'::regnamespace AND t.tgenabled <> 'O'
                """)
            guard disabled == "0" else {
                throw MerchantError(
                    .internalError, "triggers of the copied database are disabled: report this error")
            }
        }
    }

    /// Lets daemons use the database: in one transaction, stores a value that the next start records in the audit, and
    /// removes the mark of an unfinished copy.
    ///
    /// - Parameter value: a row of the table `daemon_values`; nil if the copied data contains it.
    package func finish(storing value: (name: String, value: String)? = nil) throws {
        try PostgresErrors.translating {
            try connection.inTransaction {
                if let value {
                    _ = try connection.query(
                        """
                        INSERT INTO daemon_values (name, value) VALUES ($1, $2)
                        ON CONFLICT (name) DO UPDATE SET value = excluded.value
                        """, [value.name, value.value])
                }
                try connection.run("DROP TABLE \(UnfinishedCopyMark.table)")
            }
        }
    }

    /// Changes the mark of the copy, which failed its verification, so that the next run removes the copy and begins
    /// again.
    package func discard() throws {
        try PostgresErrors.translating {
            _ = try connection.query("UPDATE \(UnfinishedCopyMark.table) SET audit_sequence = 0 WHERE id = 1")
        }
    }
}

extension UnfinishedCopyMark {
    /// The schema with the data from before an unfinished restore; nil if there is none.
    static func keptSchema(on connection: Connection) throws -> String? {
        try connection.query("SELECT kept_schema FROM merchantkeyd.\(table) WHERE id = 1").first?
            .textIfAny("kept_schema")
    }
}

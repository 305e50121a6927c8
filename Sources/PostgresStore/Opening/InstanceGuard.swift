import MerchantCore
import StoreCore

/// Refuses a database of another program, and finds out what the database contains.
enum InstanceGuard {
    enum Content {
        /// The database has no schema `merchantkeyd`, and no tables of another program.
        case empty
        /// The database has the schema of this program.
        case merchantkeyd
        /// The database is the target of a copy or restore that is not finished. No daemon may use it.
        case unfinishedCopy
    }

    /// - Throws: `storeUnavailable` if the database contains a schema `merchantkeyd` that this program did not create,
    ///   or no such schema but tables of another program.
    static func check(_ connection: Connection) throws -> Content {
        let found = try connection.query(
            """
            SELECT to_regnamespace('merchantkeyd') IS NOT NULL AS has_schema,
                to_regclass('merchantkeyd.instance') IS NOT NULL AND to_regclass('merchantkeyd.migrations') IS NOT NULL
                    AS has_tables,
                to_regclass('merchantkeyd.\(UnfinishedCopyMark.table)') IS NOT NULL AS is_unfinished_copy,
                (SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                    WHERE c.relkind IN ('r', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
                        AND n.nspname <> 'merchantkeyd' AND NOT starts_with(n.nspname, '\(PostgresCopy.keptSchemaPrefix)')
                        AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.objid = c.oid AND d.deptype = 'e')
                    ORDER BY 1 LIMIT 1) AS other_table
            """
        ).first
        guard let found else { return .empty }
        guard try found.flag("has_schema") else {
            if let table = try found.textIfAny("other_table") {
                throw MerchantError(
                    .storeUnavailable,
                    "the database belongs to another program: it contains the table \(table) and no schema merchantkeyd; create a database for the daemon alone, and name it in the connection string"
                )
            }
            return .empty
        }
        let isOurs =
            try found.flag("has_tables")
            && connection.query("SELECT program FROM merchantkeyd.instance WHERE id = 1").first?.text("program")
                == "merchantkeyd"
        guard isOurs else {
            throw MerchantError(
                .storeUnavailable,
                "the schema merchantkeyd of the database was created by another program: create a database for the daemon alone, and name it in the connection string"
            )
        }
        return try found.flag("is_unfinished_copy") ? .unfinishedCopy : .merchantkeyd
    }

    /// Checks that a daemon or `migrate` may create the schema in a database that has none.
    ///
    /// - Throws: `storeUnavailable` if the role may not create a schema, or if the database contains data that a
    ///   restore has replaced. In that case, the schema `merchantkeyd` was removed, so this is not a new database.
    static func requireCreatable(_ connection: Connection) throws {
        let found = try connection.query(
            """
            SELECT (SELECT max(nspname::text) FROM pg_namespace WHERE starts_with(nspname, '\(PostgresCopy.keptSchemaPrefix)')) AS replaced,
                has_database_privilege(current_database(), 'CREATE') AS may_create
            """
        ).first
        if let schema = try found?.textIfAny("replaced") {
            throw MerchantError(
                .storeUnavailable,
                "the database has no schema merchantkeyd, but the schema \(schema) with the data from before a restore: restore a backup with 'merchantkeyctl backup restore', or use this data again with ALTER SCHEMA \(schema) RENAME TO merchantkeyd"
            )
        }
        guard try found?.flag("may_create") ?? true else {
            throw MerchantError(
                .storeUnavailable,
                "the database has no schema merchantkeyd, and the role of the connection may not create it: check that the connection string names the daemon's database, and run 'merchantkeyd migrate' as the owner of the database"
            )
        }
    }

    /// Whether the connection's role has the privileges of the schema's owner, and so may change the schema.
    static func isOwner(_ connection: Connection) throws -> Bool {
        try connection.run("SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = 'merchantkeyd'")
            == "t"
    }

    /// The error for a database that is an unfinished copy. Names the schema with the earlier data, if there is one.
    static func unfinishedCopy(_ connection: Connection) -> MerchantError {
        // The role of a daemon may be unable to read the table.
        let kept = (try? UnfinishedCopyMark.keptSchema(on: connection)) ?? nil
        let oldData = kept.map { "; the earlier data is in the schema \($0)" } ?? ""
        return MerchantError(
            .storeUnavailable,
            "the database is the target of a copy or restore that is not finished, so it lacks keys: run the command 'merchantkeyctl store copy' or 'merchantkeyctl backup restore' again, and then start the daemon\(oldData)"
        )
    }
}

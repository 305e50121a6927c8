import MerchantCore
import StoreCore
import Vocabulary

/// Refuses a server on which the store cannot work, or cannot store changes durably. Each new connection is checked,
/// because the settings can change, and because the connection string can name several servers.
enum ServerChecks {
    /// PostgreSQL 15, as `server_version_num` shows it.
    static let oldestVersion = 150_000

    private static let question = """
        SELECT current_setting('server_version_num')::bigint AS version, current_setting('server_version') AS version_text,
            current_setting('server_encoding') AS encoding, current_setting('fsync') AS fsync,
            current_setting('full_page_writes') AS full_page_writes,
            current_setting('synchronous_commit') AS synchronous_commit, pg_is_in_recovery() AS is_standby,
            current_setting('transaction_read_only') AS read_only,
            (SELECT system_identifier::text FROM pg_control_system()) AS system_identifier
        """

    /// - Returns: the identity of the server.
    static func check(_ connection: Connection, _ durability: Durability) throws -> ServerIdentity {
        guard let row = try connection.query(question).first else { throw refusal("reports no settings", "") }
        let version = try row.integer("version")
        guard version >= oldestVersion else {
            throw refusal("has version \(try row.text("version_text"))", "install PostgreSQL 15 or newer")
        }
        guard try !row.flag("is_standby") else {
            throw refusal(
                "is a standby, which accepts no changes",
                "connect to the primary, for example with target_session_attrs=read-write in the connection string")
        }
        guard try row.text("read_only") == "off" else {
            throw refusal(
                "opens only read-only transactions", "set default_transaction_read_only = off for the daemon's role")
        }
        let encoding = try row.text("encoding")
        guard encoding == "UTF8" else {
            throw refusal(
                "stores the database in the encoding \(encoding)", "create the database with ENCODING 'UTF8'")
        }
        if case .required = durability { try requireDurability(row) }
        // The name of the current file of the write-ahead log begins with the timeline.
        let timeline = try connection.query("SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) AS timeline")
            .first
        return ServerIdentity(
            systemIdentifier: try row.text("system_identifier"), timeline: try timeline?.text("timeline") ?? "")
    }

    /// How many connections one daemon opens at most.
    private static let connectionsOfDaemon = 15

    /// Refuses a server, database or role that permits fewer connections than one daemon may open.
    static func requireConnections(_ connection: Connection) throws {
        let row = try connection.query(
            """
            SELECT current_setting('max_connections')::bigint - CASE WHEN is_superuser THEN 0 ELSE
                    current_setting('superuser_reserved_connections')::bigint
                    + coalesce(current_setting('reserved_connections', true)::bigint, 0) END AS server,
                (SELECT nullif(datconnlimit, -1)::bigint FROM pg_database
                    WHERE datname = current_database() AND NOT is_superuser) AS database,
                (SELECT nullif(rolconnlimit, -1)::bigint FROM pg_roles
                    WHERE rolname = session_user AND NOT is_superuser) AS role
            FROM (SELECT rolsuper AS is_superuser FROM pg_roles WHERE rolname = session_user) AS session
            """
        ).first
        guard let row else { return }
        let limits = [
            ("server", try row.int64IfAny("server"), "increase max_connections in postgresql.conf"),
            ("database", try row.int64IfAny("database"), "run 'ALTER DATABASE … CONNECTION LIMIT -1'"),
            ("role of the connection", try row.int64IfAny("role"), "run 'ALTER ROLE … CONNECTION LIMIT -1'"),
        ]
        for (name, limit, advice) in limits {
            guard let limit, limit < connectionsOfDaemon else { continue }
            throw MerchantError(
                .storeUnavailable,
                "the \(name) permits \(limit.counted("connection")), but one daemon opens up to \(connectionsOfDaemon): \(advice)"
            )
        }
    }

    /// Checks that none of these settings is off. Otherwise a power failure could lose changes that were reported as
    /// stored, or destroy the database.
    private static func requireDurability(_ row: Row) throws {
        for setting in ["fsync", "full_page_writes"] where try row.text(setting) != "on" {
            throw refusal(
                "runs with \(setting) = \(try row.text(setting)), so a power failure can destroy the database",
                "set \(setting) = on in postgresql.conf")
        }
        guard try row.text("synchronous_commit") != "off" else {
            throw refusal(
                "runs with synchronous_commit = off, so a crash can lose changes that were reported as stored",
                "set synchronous_commit = on for the daemon's role, or remote_apply or remote_write with a standby")
        }
    }

    private static func refusal(_ finding: String, _ advice: String) -> MerchantError {
        MerchantError(.storeUnavailable, "the PostgreSQL server cannot be used: it \(finding): \(advice)")
    }
}

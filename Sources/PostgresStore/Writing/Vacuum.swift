/// VACUUM of the tables that contain sealed keys and sealed account numbers.
enum Vacuum {
    private static let tables = ["sealed_private_keys", "sealed_mpans", "data_keys"]

    /// - Parameter connection: a connection that is used for nothing else, because this changes its time limits.
    ///   `lock_timeout` stays, and limits the wait for the lock of a table.
    static func run(on connection: Connection) throws {
        // VACUUM of a large table may take long.
        try connection.run("SET statement_timeout = 0")
        connection.longestResponse = nil
        for table in tables { try vacuum(table, on: connection) }
    }

    /// Another session can lock the table for hours: for example, a CREATE INDEX CONCURRENTLY, or an autovacuum that
    /// prevents a wraparound of transaction identifiers. This is not an error, because the key is already overwritten
    /// in its row, and autovacuum removes the old version of the row later.
    private static func vacuum(_ table: String, on connection: Connection) throws {
        // With SKIP_LOCKED, the server does not wait for the lock again, and reports the skipped table as a warning,
        // which the daemon logs.
        for command in ["VACUUM", "VACUUM (SKIP_LOCKED)"] {
            do {
                try connection.run("\(command) \(table)")
                return
            } catch let error as PostgresError where error.isLockUnavailable { continue }
        }
    }
}

extension PostgresError {
    /// Whether a lock was not available within `lock_timeout`.
    fileprivate var isLockUnavailable: Bool { sqlState == "55P03" }
}

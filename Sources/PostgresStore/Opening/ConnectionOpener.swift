/// Opens connections with the settings that the store relies on.
struct ConnectionOpener: Sendable {
    let settings: ConnectionSettings
    let notices: NoticeHandler
    /// Which settings of the server ``ServerChecks`` requires.
    let durability: Durability
    /// The audit record that the database must contain; nil if lost transactions need not be detected.
    var knownAuditHead: KnownAuditHead?

    /// Opens a connection, and checks the server.
    ///
    /// - Throws: ``PostgresError``; `storeUnavailable` if the server does not fulfil ``ServerChecks``;
    ///   ``LostTransactions``.
    func open() throws -> (connection: Connection, server: ServerIdentity) {
        let parameters = ConnectionParameters(settings.options, password: try settings.password())
        let limits = settings.limits
        let connection = try Connection(
            parameters: parameters, notices: notices, longestResponse: limits.response)
        // `pg_temp` is the last schema, so that no temporary table can hide one of the daemon's tables.
        try connection.run(
            """
            SELECT set_config('search_path', 'merchantkeyd, pg_temp', false),
                set_config('statement_timeout', '\(limits.statement.milliseconds)', false),
                set_config('lock_timeout', '\(limits.lock.milliseconds)', false),
                set_config('idle_in_transaction_session_timeout', '\(limits.idleTransaction.milliseconds)', false),
                set_config('jit', 'off', false)
            """)
        let server = try ServerChecks.check(connection, durability)
        // Each connection is checked before its first use. Otherwise changes could be committed on a database that lost
        // transactions, and their audit records would hide the loss from the renewal of the lease.
        if let known = knownAuditHead?.value { _ = try LostTransactions.check(known, on: connection) }
        return (connection, server)
    }
}

/// Which settings of the server are required, so that a commit is on stable storage when it returns.
package enum Durability: Sendable {
    case required
    /// For tests that do not test durability: their server runs with `fsync = off`.
    case notRequired
}

package import MerchantCore
import MetricsKit
import Vocabulary

/// Stores merchants, keys, rolls, registrations, events, the audit and the access to the portal in a PostgreSQL
/// database, which several daemons can share.
///
/// Reads use a pool with a limited number of connections. Each read has a transaction of its own, which sees one state
/// of the database. Writes use one connection. Each write transaction begins by locking the row `audit_head`, so
/// the write transactions of all daemons run one after another, and the audit is one hash chain. When ``write(_:)``
/// returns, its changes are on the server's stable storage.
package final class PostgresStore: MerchantRepository, Sendable {
    /// Begins a transaction that reads. Its queries see the state of the database at the first query.
    static let beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    private let opener: ConnectionOpener
    private let pool: ConnectionPool
    private let jobs: JobQueue
    private let queue: WriteQueue
    private let erasures: ErasureQueue
    private let acknowledgements: ChangeAcknowledgements?

    /// - Parameters:
    ///   - clock: gives the time at which writes began to fail, for ``health``.
    ///   - confirmedTime: the daemon's own count of time, which does not change when the machine's clock is set. If the
    ///     machine's clock was set back, events get this time. If nil, events keep the time of the machine's clock.
    ///   - lease: the lease of this daemon, if several daemons share the database. A write that changes a stored key
    ///     pair then returns only when every other daemon has applied the change or no longer has a lease.
    package init(
        _ database: PostgresDatabase, clock: any WallClock, observers: StoreObservers = StoreObservers(),
        confirmedTime: ConfirmedTime? = nil, lease: NodeLease? = nil
    ) {
        opener = database.opener
        let limits = opener.settings.limits
        pool = ConnectionPool(maximum: limits.readers, longestWait: limits.waiting) { [opener] in
            let connection = try opener.open().connection
            // Makes PostgreSQL plan each query for its parameter values. A generic plan does not consider the value of
            // `LIMIT`, so it could read a whole table to return a few rows.
            try connection.run("SELECT set_config('plan_cache_mode', 'force_custom_plan', false)")
            return connection
        }
        jobs = JobQueue(threads: limits.readers, longest: limits.queue)
        let acknowledgements = lease.map { [opener] in ChangeAcknowledgements(opener, $0) }
        self.acknowledgements = acknowledgements
        queue = WriteQueue(
            opener: opener, clock: clock, observers: observers, confirmedTime: confirmedTime,
            node: lease?.node.name, acknowledgements: acknowledgements)
        erasures = ErasureQueue { [opener, pool, queue] in
            try PostgresErrors.translating { try Vacuum.run(on: try opener.open().connection) }
            pool.closeIdle()
            queue.groups.closeConnection()
        }
    }

    /// Whether writes succeed, and if not, why.
    package var health: StoreHealth { queue.groups.health }

    /// How many writes wait for the next commit.
    package var waitingWrites: Int { queue.groups.waitingCount }

    /// Counts the audit records since the store was opened.
    var auditedActions: LabeledCounter<AuditAction> { queue.auditedActions }

    /// Refuses new reads and writes, commits the waiting writes, and closes the connections. Blocks the calling thread.
    package func close() {
        queue.groups.finish()
        acknowledgements?.finish()
        pool.close()
    }
}

// MARK: - Reading and writing

extension PostgresStore {
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryReading) throws -> Result
    ) async throws -> Result { try await readStore { try body($0) } }

    package func readNow<Result>(_ body: (any RepositoryReading) throws -> Result) throws -> Result {
        try readStoreNow { try body($0) }
    }

    /// Commits the changes of `body` in one transaction. Cancelling the task does not cancel a write.
    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any RepositoryWriting) throws -> Result
    ) async throws -> Result { try await writeStore { try body($0) } }

    /// Removes old row versions from the tables of sealed keys and account numbers with VACUUM, so that PostgreSQL can
    /// reuse their space. The old versions contain the bytes that were erased. Also closes the write connection and the
    /// idle connections, whose buffers can contain copies of these bytes.
    ///
    /// This cannot remove copies from the server's memory, from free disk blocks, from the write-ahead log, from its
    /// archive or from replicas. Only a rotation of the data key makes those copies useless. VACUUM must run as the
    /// owner of the tables, and needs a lock on each of them. Otherwise, PostgreSQL skips the table with a warning.
    package func eraseCopiesOfDestroyedSecrets() async throws { try await erasures.run() }
}

// MARK: - Reading and writing with all queries of this module

extension PostgresStore {
    /// As ``read(_:)``, but `body` can also use the queries that `RepositoryReading` does not declare.
    func readStore<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result) async throws -> Result
    {
        try await jobs.run(waitingAtMost: opener.settings.limits.waiting) { try self.readStoreNow(body) }
    }

    /// As ``readNow(_:)``, but `body` can also use the queries that `RepositoryReading` does not declare.
    func readStoreNow<Result>(_ body: (StoreReader) throws -> Result) throws -> Result {
        try PostgresErrors.translating {
            try pool.withConnection { connection in
                do {
                    try connection.sendLater(Self.beginReading)
                    let result = try body(StoreReader(connection: connection))
                    try connection.commit()
                    return result
                } catch {
                    // A lost connection is not put back into the pool.
                    if !connection.isLost { try connection.rollBack() }
                    throw error
                }
            }
        }
    }

    /// As ``write(_:)``, but `body` can also use the statements that `RepositoryWriting` does not declare.
    func writeStore<Result: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.groups.add(
                PendingWrite(
                    run: { transaction in
                        let result = try body(transaction)
                        return { continuation.resume(returning: result) }
                    },
                    refuse: { continuation.resume(throwing: $0) }))
        }
    }

    /// Commits the changes of `body` on the calling thread, and blocks that thread.
    func writeNow(_ body: (StoreTransaction) throws -> Void) throws {
        try queue.groups.writeNow { try body(StoreTransaction(connection: $0.connection, auditHead: $0.auditHead)) }
    }
}

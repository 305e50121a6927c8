import Glibc
import MerchantCore
import Synchronization
import Vocabulary

/// Runs transactions on one connection, one at a time. Replaces a lost connection.
final class WriteConnection: Sendable {
    /// The kind of a transaction. The raw value is the SQL that begins the transaction and returns its number.
    enum Kind: String {
        /// A transaction that may append to the audit. It locks the audit's head row first, so that such transactions
        /// of all daemons run one after another. It also returns the audit's head.
        case audited =
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_current_xact_id()::text, sequence, encode(hash, 'hex') FROM audit_head WHERE id = 1 FOR UPDATE"
        /// A transaction on claims, which locks only the rows that it writes.
        case unaudited = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_current_xact_id()::text"
    }

    /// A transaction that has begun.
    struct Transaction {
        let connection: Connection
        fileprivate let mark: TransactionMark
        /// The last record of the audit; nil if the transaction is not ``Kind/audited``.
        let auditHead: AuditHead?
    }

    private typealias Opened = (connection: Connection, server: ServerIdentity)

    private let opener: ConnectionOpener
    private let attempts = ConnectionAttempts()
    private let settlement: Duration
    private let longestPause: Duration
    /// Locked while a transaction runs.
    private let turn = Mutex(())
    private let current = Mutex<Opened?>(nil)

    init(_ opener: ConnectionOpener, limits: ConnectionSettings.Limits) {
        self.opener = opener
        settlement = limits.settlement
        longestPause = limits.idleWrite
    }

    /// Runs `body` in a transaction, and returns once it is on stable storage. Blocks the calling thread.
    ///
    /// - Throws: ``UnknownOutcomeError`` if it is not known whether the transaction was committed. After any other
    ///   error, such as the error of `body` or a ``PostgresError``, nothing was changed.
    func transaction<Result: Sendable>(_ kind: Kind, _ body: (Transaction) throws -> Result) throws -> Result {
        try turn.withLock { _ in
            let transaction = try begin(kind)
            let result: Result
            do { result = try body(transaction) } catch {
                rollBack(transaction.connection)
                throw error
            }
            do { try transaction.connection.commit() } catch {
                guard transaction.connection.isLost else {
                    rollBack(transaction.connection)
                    throw error
                }
                replace(by: nil)
                try settle(transaction.mark, after: error)
            }
            return result
        }
    }

    /// Closes the connection. This frees its buffers, which can contain sealed keys.
    func close() { turn.withLock { _ in replace(by: nil) } }

    private func begin(_ kind: Kind) throws -> Transaction {
        // The server may have closed the connection while it was idle. Nothing was changed then, so a second attempt on
        // a new connection is safe.
        if let opened = current.withLock({ $0 }) {
            do { return try begin(kind, on: opened) } catch {
                rollBack(opened.connection)
                guard opened.connection.isLost else { throw error }
            }
        }
        let opened = try open()
        replace(by: opened)
        do { return try begin(kind, on: opened) } catch {
            rollBack(opened.connection)
            throw error
        }
    }

    /// Opens a connection, and limits the time for which a transaction on it may be idle. If this process is frozen or
    /// loses the network, the server then ends the transaction, which otherwise would lock the audit for all daemons.
    ///
    /// PostgreSQL keeps the plan of a statement until it analyzes the table again. A plan that was made for an almost
    /// empty table scans the whole table, even when the table has grown. With `enable_seqscan = off`, each plan uses an
    /// index.
    private func open() throws -> Opened {
        let opened = try attempts.attempt { try opener.open() }
        try opened.connection.run(
            """
            SELECT set_config('idle_in_transaction_session_timeout', '\(longestPause.milliseconds)', false),
                set_config('enable_seqscan', 'off', false)
            """)
        return opened
    }

    private func begin(_ kind: Kind, on opened: Opened) throws -> Transaction {
        let row = try opened.connection.firstRow(kind.rawValue)
        guard let number = row.first ?? nil else {
            throw MerchantError(
                .storeUnavailable, "the database has no row in the table audit_head: restore a backup")
        }
        return Transaction(
            connection: opened.connection, mark: TransactionMark(server: opened.server, number: number),
            auditHead: AuditHead(row.dropFirst()))
    }

    private func rollBack(_ connection: Connection) {
        if !connection.isLost { try? connection.rollBack() }
        if connection.isLost { replace(by: nil) }
    }

    private func replace(by opened: Opened?) {
        // The old connection is closed outside the lock, because that sends a message to the server.
        _ = current.withLock { current in
            defer { current = opened }
            return current
        }
    }

    /// Asks the server for the outcome of a commit that received no response. Returns if the transaction was committed.
    private func settle(_ mark: TransactionMark, after error: any Error) throws {
        let deadline = ContinuousClock.now + settlement
        repeat {
            switch askOutcome(of: mark) {
            case .committed: return try requireStandby(mark)
            case .rolledBack: throw error
            case .unknown: throw UnknownOutcomeError(mark: mark)
            // The server cannot be reached yet, or still runs the transaction.
            case .inProgress, nil: usleep(50_000)
            }
        } while ContinuousClock.now < deadline
        throw UnknownOutcomeError(mark: mark)
    }

    /// Commits a small write, and so waits until the synchronous standby, if there is one, has all earlier
    /// transactions.
    ///
    /// A server that restarts while a commit waits for the standby reports the transaction as committed at once.
    private func requireStandby(_ mark: TransactionMark) throws {
        do {
            let message = "SELECT pg_logical_emit_message(true, 'merchantkeyd', '')"
            _ = try current.withLock { $0 }?.connection.query(message)
        } catch {
            replace(by: nil)
            throw UnknownOutcomeError(mark: mark)
        }
    }

    private func askOutcome(of mark: TransactionMark) -> CommitOutcome? {
        let opened: Opened
        do { opened = try current.withLock { $0 } ?? open() } catch {
            return error is LostTransactions ? .unknown : nil
        }
        replace(by: opened)
        guard let outcome = try? CommitOutcome.of(mark, on: opened.connection, server: opened.server) else {
            replace(by: nil)
            return nil
        }
        return outcome
    }
}

extension AuditHead {
    /// - Parameter columns: the sequence in decimal and the hash in hexadecimal digits, as ``WriteConnection/Kind``
    ///   selects them.
    fileprivate init?(_ columns: ArraySlice<String?>) {
        let texts = columns.compactMap { $0 }
        guard texts.count == 2, let sequence = Int(texts[0]), let hash = Hex.decode(texts[1]) else { return nil }
        self.init(sequence: sequence, hash: hash)
    }
}

/// The connection was lost during a commit, and it is not known whether the change is on stable storage.
struct UnknownOutcomeError: Error {
    let mark: TransactionMark

    var merchantError: MerchantError {
        MerchantError(
            .storeUnavailable,
            "the connection to PostgreSQL was lost during a commit, so it is not known whether the change was stored (transaction \(mark)): read the state before you repeat the request, or repeat it with the same Idempotency-Key"
        )
    }
}

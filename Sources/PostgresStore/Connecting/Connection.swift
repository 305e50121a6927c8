import CLibPQ
import MerchantCore
import StoreCore
import Synchronization

/// One connection to PostgreSQL. A call that needs a response from the server blocks the calling thread until the
/// response arrives. ``longestResponse`` limits the wait, except for COPY.
final class Connection: @unchecked Sendable {
    // Proof for @unchecked Sendable: `exclusively` ends the process if two threads use the connection at the same time.
    // ``ConnectionPool`` and ``WriteConnection`` hand a connection from one thread to the next under a lock.
    let pointer: OpaquePointer
    private let isInUse = Atomic(false)
    /// The prepared statements, by their SQL text.
    private var statements: [String: PreparedStatement] = [:]
    /// The statements of ``sendLater(_:_:)`` that are still unsent.
    var unsent: [PreparedQuery] = []
    /// Whether an error has made the connection unusable.
    private(set) var isLost = false
    /// How many responses have arrived.
    private(set) var responseCount = 0
    /// How long to wait for the response to one request; nil for no limit.
    var longestResponse: Duration?
    private let notices: NoticeHandler

    /// Connects, and waits for each host at most as long as `connect_timeout` of the connection string.
    ///
    /// - Throws: ``PostgresError``.
    init(parameters: borrowing ConnectionParameters, notices: NoticeHandler, longestResponse: Duration?) throws {
        let opened = parameters.withKeywordsAndValues { PQconnectdbParams($0, $1, 0) }
        guard let opened else { throw PostgresError.outOfMemory }
        guard PQstatus(opened) == CONNECTION_OK else {
            defer { PQfinish(opened) }
            throw PostgresError.connecting(opened)
        }
        pointer = opened
        self.notices = notices
        self.longestResponse = longestResponse
        notices.receive(from: opened)
    }

    deinit { PQfinish(pointer) }

    /// Whether the connection is encrypted with TLS.
    var usesTLS: Bool { PQsslInUse(pointer) == 1 }

    /// Whether a statement of the current transaction has failed, so that the transaction can only be rolled back.
    var isTransactionFailed: Bool { PQtransactionStatus(pointer) == PQTRANS_INERROR }

    /// Runs one or several statements without parameters, after the unsent statements.
    ///
    /// - Returns: the first value of the last statement's result, as text; nil for NULL, and if there is no row.
    @discardableResult
    func run(_ sql: String) throws -> String? { try firstRow(sql).first ?? nil }

    /// Runs one or several statements without parameters, after the unsent statements.
    ///
    /// - Returns: the first row of the last statement's result, each value as text, nil for NULL; empty if there is no
    ///   row.
    func firstRow(_ sql: String) throws -> [String?] {
        try sendUnsent()
        return try exclusively {
            let result = try checked { PQsendQuery($0, sql) }
            defer { PQclear(result) }
            guard PQntuples(result) > 0 else { return [] }
            return (0..<PQnfields(result)).map { column in
                guard PQgetisnull(result, 0, column) == 0 else { return nil }
                return PQgetvalue(result, 0, column).map { String(cString: $0) }
            }
        }
    }

    /// Sends the unsent statements, and commits the transaction.
    ///
    /// - Throws: `internalError` if a statement of the transaction had failed before. PostgreSQL then rolls the
    ///   transaction back, and reports that only in the command tag.
    func commit() throws {
        guard try query("COMMIT").commandTag == "COMMIT" else { throw Self.failedBeforeCommit }
    }

    /// Undoes the transaction, or its changes since a savepoint. Discards the unsent statements.
    func rollBack(to savepoint: String? = nil) throws {
        unsent = []
        // If the statement that begins the transaction was still unsent, there is nothing to undo.
        guard PQtransactionStatus(pointer) != PQTRANS_IDLE else { return }
        try run(savepoint.map { "ROLLBACK TO \($0)" } ?? "ROLLBACK")
    }

    static let failedBeforeCommit = MerchantError(
        .internalError,
        "a statement of the transaction failed before its commit, and nothing was changed: report this error")

    /// Runs `body` in a transaction.
    func inTransaction(_ body: () throws -> Void) throws {
        do {
            try run("BEGIN")
            try body()
            try commit()
        } catch {
            if !isLost { try? rollBack() }
            throw error
        }
    }

    func exclusively<Result>(_ body: () throws -> Result) rethrows -> Result {
        precondition(!isInUse.exchange(true, ordering: .acquiring), "two threads use one connection at the same time")
        defer { isInUse.store(false, ordering: .releasing) }
        return try body()
    }

    /// Call this when libpq has reported that the connection cannot be used any more.
    func markLost() { isLost = true }

    func noteResponse() { responseCount += 1 }

    func prepared(_ sql: String) throws -> PreparedStatement {
        if let known = statements[sql] { return known }
        let name = "s\(statements.count)"
        // The server determines the types of the parameters.
        PQclear(try checked { PQsendPrepare($0, name, sql, 0, nil) })
        let description = try checked { PQsendDescribePrepared($0, name) }
        defer { PQclear(description) }
        let statement = PreparedStatement(name: name, describedBy: description)
        statements[sql] = statement
        return statement
    }

    /// Sends a request and waits for its response.
    ///
    /// - Throws: ``PostgresError`` unless the result is a success.
    func checked(_ send: (OpaquePointer) -> CInt) throws -> OpaquePointer {
        let result: OpaquePointer?
        do { result = try response(to: send) } catch {
            isLost = true
            throw error
        }
        noteResponse()
        if let result, [PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY].contains(PQresultStatus(result)) {
            return result
        }
        defer { PQclear(result) }
        let error = PostgresError(result: result, of: pointer)
        isLost = isLost || error.isConnectionLost
        throw error
    }
}

/// A statement that the server has prepared on one connection.
struct PreparedStatement {
    let name: String
    /// The object identifiers (`pg_type.oid`) of the parameters' types.
    let parameterTypes: [UInt32]
    /// The index of each column of the result.
    let columns: [String: Int32]

    init(name: String, describedBy description: OpaquePointer) {
        self.name = name
        parameterTypes = (0..<PQnparams(description)).map { PQparamtype(description, $0) }
        columns = Dictionary(
            (0..<PQnfields(description)).map { (String(cString: PQfname(description, $0)), $0) },
            uniquingKeysWith: { first, _ in first })
    }
}

import CLibPQ
import MerchantCore
import StoreCore
import Synchronization

/// One connection to PostgreSQL. Every call blocks the calling thread until the server has answered.
final class Connection: @unchecked Sendable {
    // Proof for @unchecked Sendable: `exclusively` ends the process if two threads use the connection at the same time.
    // ``ConnectionPool`` and ``WriteGroups`` hand a connection from one thread to the next under a lock.
    let pointer: OpaquePointer
    private let isInUse = Atomic(false)
    /// The prepared statements, by their SQL text.
    private var statements: [String: PreparedStatement] = [:]
    /// Whether an error has made the connection unusable.
    private(set) var isLost = false
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

    /// Runs one or several statements without parameters.
    ///
    /// - Returns: the first value of the last statement's result, as text; nil if there is none.
    @discardableResult
    func run(_ sql: String) throws -> String? {
        try exclusively {
            let result = try checked { PQsendQuery($0, sql) }
            defer { PQclear(result) }
            guard PQntuples(result) > 0, PQgetisnull(result, 0, 0) == 0 else { return nil }
            return PQgetvalue(result, 0, 0).map { String(cString: $0) }
        }
    }

    /// Commits the transaction.
    ///
    /// - Throws: `internalError` if a statement of the transaction had failed before. PostgreSQL then rolls the
    ///   transaction back, and reports that only in the command tag.
    func commit() throws {
        try exclusively {
            let result = try checked { PQsendQuery($0, "COMMIT") }
            defer { PQclear(result) }
            guard let tag = PQcmdStatus(result), String(cString: tag) == "COMMIT" else {
                throw Self.failedBeforeCommit
            }
        }
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
            if !isLost { _ = try? run("ROLLBACK") }
            throw error
        }
    }

    /// Runs a statement with parameters. The first run prepares the statement on this connection.
    func query(_ sql: String, _ arguments: Arguments = []) throws -> QueryResult {
        try exclusively {
            let statement = try prepared(sql)
            let parameters = try EncodedParameters(arguments, as: statement.parameterTypes)
            let result = try checked { parameters.send(statement.name, on: $0) }
            return QueryResult(result, columns: statement.columns)
        }
    }

    func exclusively<Result>(_ body: () throws -> Result) rethrows -> Result {
        precondition(!isInUse.exchange(true, ordering: .acquiring), "two threads use one connection at the same time")
        defer { isInUse.store(false, ordering: .releasing) }
        return try body()
    }

    /// Call this when libpq has reported that the connection cannot be used any more.
    func markLost() { isLost = true }

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
    private func checked(_ send: (OpaquePointer) -> CInt) throws -> OpaquePointer {
        let result: OpaquePointer?
        do { result = try response(to: send) } catch {
            isLost = true
            throw error
        }
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

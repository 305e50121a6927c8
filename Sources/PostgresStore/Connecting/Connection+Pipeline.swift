import CLibPQ
import StoreCore

/// A statement with its parameters.
struct Query {
    let sql: String
    let arguments: Arguments

    init(_ sql: String, _ arguments: Arguments = []) { (self.sql, self.arguments) = (sql, arguments) }
}

/// A statement that is prepared, with its encoded parameters.
struct PreparedQuery {
    let statement: PreparedStatement
    let parameters: EncodedParameters

    /// - Returns: 1 if the request was sent.
    func send(on connection: OpaquePointer) -> CInt { parameters.send(statement.name, on: connection) }
}

/// libpq's pipeline mode: the server runs several statements without waiting for this process in between.
extension Connection {
    /// How many statements can be unsent. With more statements, the responses could fill the socket's buffer while this
    /// process still sends. The process and the server would then wait for each other.
    private static var mostUnsent: Int { 128 }

    /// Runs a statement with parameters, after the unsent statements. The first run prepares the statement on this
    /// connection.
    ///
    /// - Throws: the error of the first statement that failed.
    func query(_ sql: String, _ arguments: Arguments = []) throws -> QueryResult { try query(Query(sql, arguments)) }

    func query(_ query: Query) throws -> QueryResult {
        try exclusively {
            let prepared = try prepare(query)
            let result =
                unsent.isEmpty
                ? QueryResult(try checked { prepared.send(on: $0) }, columns: prepared.statement.columns)
                : try pipelined(takeUnsent() + [prepared]).last
            guard let result else { throw lost() }
            return result
        }
    }

    /// Runs the statements in this order, after the unsent statements.
    ///
    /// - Returns: the result of each statement.
    /// - Throws: the error of the first statement that failed. The server skips the statements after it.
    func queries(_ queries: [Query]) throws -> [QueryResult] {
        guard queries.count > 1 else { return try queries.map(query) }
        return try exclusively {
            let prepared = try queries.map(prepare)
            return Array(try pipelined(takeUnsent() + prepared).suffix(queries.count))
        }
    }

    /// Keeps a statement whose result is not needed, so that one request to the server runs several statements. The
    /// next call of `query`, `queries`, `run` or `commit` sends the statement. If ``mostUnsent`` statements are unsent,
    /// they are sent at once. If the statement fails, the call that sends it throws the error, and the server skips the
    /// statements after it.
    func sendLater(_ sql: String, _ arguments: Arguments = []) throws {
        try exclusively { unsent.append(try prepare(Query(sql, arguments))) }
        if unsent.count >= Self.mostUnsent { try sendUnsent() }
    }

    /// Sends the unsent statements, and waits until the server has run them.
    ///
    /// - Throws: the error of the first statement that failed.
    func sendUnsent() throws {
        guard !unsent.isEmpty else { return }
        _ = try exclusively { try pipelined(takeUnsent()) }
    }

    private func prepare(_ query: Query) throws -> PreparedQuery {
        let statement = try prepared(query.sql)
        return PreparedQuery(
            statement: statement, parameters: try EncodedParameters(query.arguments, as: statement.parameterTypes))
    }

    private func takeUnsent() -> [PreparedQuery] {
        defer { unsent = [] }
        return unsent
    }

    /// - Returns: the result of each statement.
    private func pipelined(_ queries: [PreparedQuery]) throws -> [QueryResult] {
        guard PQenterPipelineMode(pointer) == 1, queries.allSatisfy({ $0.send(on: pointer) == 1 }),
            PQpipelineSync(pointer) == 1
        else { throw lost() }
        var results: [QueryResult] = []
        var failure: PostgresError?
        // A commit at the end may take as long as the statements before it.
        let deadline = responseDeadline(toRequests: 2)
        while true {
            let next: OpaquePointer?
            do { next = try nextResult(until: deadline) } catch {
                markLost()
                throw error
            }
            guard let result = next else {
                // `nextResult` returns nil between the results of two requests, and after the connection is lost.
                guard PQstatus(pointer) == CONNECTION_OK else { throw lost() }
                continue
            }
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                PQclear(result)
                guard PQexitPipelineMode(pointer) == 1 else { throw lost() }
                if let failure { throw failure }
                guard results.count == queries.count else { throw lost() }
                return results
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                noteResponse()
                let columns = results.count < queries.count ? queries[results.count].statement.columns : [:]
                results.append(QueryResult(result, columns: columns))
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            default:
                let error = PostgresError(result: result, of: pointer)
                PQclear(result)
                guard !error.isConnectionLost else {
                    markLost()
                    throw error
                }
                failure = failure ?? error
            }
        }
    }

    /// Marks the connection as unusable, because its state is unknown. Returns libpq's error.
    private func lost() -> PostgresError {
        markLost()
        return PostgresError(result: nil, of: pointer)
    }
}

import CLibPQ
import StoreCore

/// libpq's pipeline mode: the server runs several statements without waiting for this process in between.
extension Connection {
    /// Runs a statement once for each list of parameters, in this order.
    ///
    /// - Throws: the error of the first run that failed. The server skips the runs after it.
    func queryEach(_ sql: String, _ lists: [Arguments]) throws -> [QueryResult] {
        guard lists.count > 1 else { return try lists.map { try query(sql, $0) } }
        return try exclusively {
            let statement = try prepared(sql)
            let parameters = try lists.map { try EncodedParameters($0, as: statement.parameterTypes) }
            let results = try pipelined {
                for list in parameters { guard list.send(statement.name, on: pointer) == 1 else { return false } }
                return true
            }
            guard results.count == lists.count else { throw lost() }
            return results.map { QueryResult($0, columns: statement.columns) }
        }
    }

    /// - Parameter send: sends the requests; returns false if that failed.
    /// - Returns: the result of each request.
    private func pipelined(_ send: () -> Bool) throws -> [OpaquePointer] {
        guard PQenterPipelineMode(pointer) == 1, send(), PQpipelineSync(pointer) == 1 else { throw lost() }
        var results: [OpaquePointer] = []
        var failure: PostgresError?
        var isComplete = false
        defer { if !isComplete { results.forEach(PQclear) } }
        let deadline = responseDeadline
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
                isComplete = true
                return results
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK: results.append(result)
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

    /// The state of the connection is unknown afterwards, so it cannot be used any more.
    private func lost() -> PostgresError {
        markLost()
        return PostgresError(result: nil, of: pointer)
    }
}

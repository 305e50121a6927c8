import CLibPQ
import Glibc

/// Waits for the responses of the server for a limited time.
///
/// The time limits of the server end a statement that takes too long. They do not help if the server itself hangs, for
/// example because its disk does not answer. libpq's functions that wait for a response have no time limit, so this
/// file uses the functions that do not wait.
extension Connection {
    /// Sends a request, and waits for its response.
    ///
    /// - Parameter send: sends the request, and returns 1 if it was sent.
    /// - Returns: the last result of the response, as PQexec returns it; nil if the request was not sent.
    /// - Throws: ``PostgresError/noResponse`` if the server does not respond within ``longestResponse``.
    func response(to send: (OpaquePointer) -> CInt) throws -> OpaquePointer? {
        guard send(pointer) == 1 else { return nil }
        let deadline = responseDeadline()
        var last: OpaquePointer?
        while true {
            do {
                guard let next = try nextResult(until: deadline) else { return last }
                PQclear(last)
                last = next
            } catch {
                PQclear(last)
                throw error
            }
        }
    }

    /// When the responses to requests that are sent now must have arrived; nil for no limit.
    func responseDeadline(toRequests count: Int = 1) -> ContinuousClock.Instant? {
        longestResponse.map { ContinuousClock.now + $0 * count }
    }

    /// Waits for the next result.
    ///
    /// - Returns: nil if the request has no further result.
    /// - Throws: ``PostgresError/noResponse``.
    func nextResult(until deadline: ContinuousClock.Instant?) throws(PostgresError) -> OpaquePointer? {
        while PQisBusy(pointer) == 1 {
            guard waitForBytes(until: deadline) else { throw .noResponse }
            // If this fails, PQgetResult returns a result with the error.
            guard PQconsumeInput(pointer) == 1 else { break }
        }
        return PQgetResult(pointer)
    }

    /// - Returns: false if nothing has arrived by `deadline`.
    private func waitForBytes(until deadline: ContinuousClock.Instant?) -> Bool {
        var socket = pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0)
        while true {
            var milliseconds: CInt = -1
            if let deadline {
                let remaining = (deadline - ContinuousClock.now).milliseconds
                guard remaining > 0 else { return false }
                milliseconds = CInt(clamping: remaining)
            }
            // If `poll` was interrupted or returned early, the loop waits again. PQconsumeInput reports any other
            // error.
            let count = poll(&socket, 1, milliseconds)
            if count > 0 || count < 0 && errno != EINTR { return true }
        }
    }

    /// Removes the time limits, for statements that may take long, such as a migration of a large table.
    func removeTimeLimits() throws {
        try run("SET statement_timeout = 0; SET lock_timeout = 0")
        longestResponse = nil
    }
}

extension PostgresError {
    /// The state of the connection is unknown afterwards, so it cannot be used any more.
    static let noResponse = PostgresError(
        sqlState: nil, message: "the server did not respond in time", isConnectionLost: true)
}

import Dispatch
import MerchantCore
import Synchronization

/// A pool with a limited number of connections for reads. Each connection is used by one thread at a time.
final class ConnectionPool: Sendable {
    private struct State {
        var idle: [Connection] = []
        var isClosed = false
    }

    private let open: @Sendable () throws -> Connection
    private let attempts = ConnectionAttempts()
    private let longestWait: Duration
    /// Counts the connections that can still be taken.
    private let free: DispatchSemaphore
    private let state = Mutex(State())

    /// - Parameters:
    ///   - maximum: the largest number of connections.
    ///   - longestWait: how long a thread waits for a connection, before it gets the error `overloaded`.
    ///   - open: opens a connection, and throws a ``PostgresError`` or a `MerchantError`.
    init(maximum: Int, longestWait: Duration, open: @escaping @Sendable () throws -> Connection) {
        free = DispatchSemaphore(value: maximum)
        self.longestWait = longestWait
        self.open = open
    }

    /// Runs `body` on a connection, on the calling thread, and blocks that thread.
    ///
    /// The server may have closed an idle connection, for example because it was restarted. So if an idle connection is
    /// lost before the first response, `body` is run again on a new connection.
    func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        guard free.wait(timeout: .now() + .milliseconds(Int(longestWait.milliseconds))) == .success else {
            throw MerchantError(
                .overloaded, "all connections to PostgreSQL are in use: try again, or raise the number of connections")
        }
        defer { free.signal() }
        if let idle = try takeIdle() {
            defer { put(idle) }
            let responses = idle.responseCount
            do { return try body(idle) } catch {
                guard idle.isLost, idle.responseCount == responses else { throw error }
                closeIdle()
            }
        }
        let new = try attempts.attempt(open)
        defer { put(new) }
        return try body(new)
    }

    private func takeIdle() throws -> Connection? {
        try state.withLock { state in
            guard !state.isClosed else { throw MerchantError(.storeUnavailable, "the store is closed") }
            return state.idle.popLast()
        }
    }

    private func put(_ connection: Connection) {
        state.withLock { state in
            if !connection.isLost, !state.isClosed { state.idle.append(connection) }
        }
    }

    /// Closes the connections that no thread uses. This frees their buffers, which can contain sealed keys.
    func closeIdle() {
        // The connections are closed outside the lock, because that sends a message to the server.
        _ = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
    }

    /// Refuses further use. A connection that is in use is closed when its use ends.
    func close() {
        state.withLock { $0.isClosed = true }
        closeIdle()
    }
}

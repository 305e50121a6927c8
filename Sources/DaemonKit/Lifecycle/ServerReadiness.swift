import Synchronization

/// Whether the daemon already listens on all of its Unix sockets. Each server reports this itself: if the daemon
/// connected to its own socket instead, the connection would be counted as a caller's.
package final class ServerReadiness: Sendable {
    package enum Server: Sendable { case admin, decryptor, issuer }

    private struct State: Sendable {
        var missing: Set<Server> = [.admin, .decryptor]
        var waiting: [AsyncStream<Void>.Continuation] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Makes ``wait()`` also wait for a server that runs only with some settings. Call this before the servers start.
    package func expect(_ server: Server) { state.withLock { _ = $0.missing.insert(server) } }

    package func didStartListening(_ server: Server) {
        let waiting = state.withLock { state in
            state.missing.remove(server)
            guard state.missing.isEmpty else { return [AsyncStream<Void>.Continuation]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Returns when the daemon listens on all of its Unix sockets.
    ///
    /// - Throws: `CancellationError` if the task is cancelled earlier.
    package func wait() async throws {
        let (end, continuation) = AsyncStream.makeStream(of: Void.self)
        let isReady = state.withLock { state in
            if !state.missing.isEmpty { state.waiting.append(continuation) }
            return state.missing.isEmpty
        }
        guard !isReady else { return }
        // Ends with `finish()`, or if the task is cancelled.
        for await _ in end {}
        try Task.checkCancellation()
    }
}

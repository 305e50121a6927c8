import Synchronization

/// Limits the attempts to connect to a server that does not respond. Otherwise each thread would wait until its own
/// attempt ends, and the reads that wait for a thread would get no error for minutes.
///
/// After a slow attempt has failed, further attempts fail at once, with the same error. After a pause, one thread at a
/// time tries again, while the attempts of other threads still fail at once. If this attempt succeeds or fails quickly,
/// all threads may connect again.
///
/// An attempt that fails quickly, for example because the server restarts, does not make further attempts fail.
package final class ConnectionAttempts: Sendable {
    private struct Failure {
        let error: any Error
        let pauseEnd: ContinuousClock.Instant
        /// Whether a thread is trying again.
        var isRetried = false
    }

    private let slow: Duration
    private let pause: Duration
    private let failure = Mutex<Failure?>(nil)

    /// - Parameters:
    ///   - slow: a failed attempt that took at least this time makes further attempts fail at once.
    ///   - pause: how long after such a failure one thread may try again.
    package init(slow: Duration = .milliseconds(500), pause: Duration = .seconds(1)) {
        self.slow = slow
        self.pause = pause
    }

    /// - Parameter open: connects to the server, and blocks the calling thread.
    /// - Throws: the error of `open`; or the error of an earlier attempt, without calling `open`.
    package func attempt<Result>(_ open: () throws -> Result) throws -> Result {
        try requirePermission()
        let begin = ContinuousClock.now
        do {
            let result = try open()
            failure.withLock { $0 = nil }
            return result
        } catch {
            let now = ContinuousClock.now
            failure.withLock { $0 = now - begin < slow ? nil : Failure(error: error, pauseEnd: now + pause) }
            throw error
        }
    }

    private func requirePermission() throws {
        try failure.withLock { failure in
            guard let last = failure else { return }
            guard !last.isRetried, ContinuousClock.now >= last.pauseEnd else { throw last.error }
            failure?.isRetried = true
        }
    }
}

import Dispatch
import MerchantCore
import Synchronization

/// Runs blocking jobs on a bounded number of threads of their own, so that none blocks a thread of Swift's concurrency
/// pool.
package final class JobQueue: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        /// The index in `waiting` of the first job.
        var first = 0
        var running = 0

        mutating func next() -> (@Sendable () -> Void)? {
            // Removes the started jobs when they are half of the array, so that the array does not grow without limit.
            if first * 2 >= waiting.count {
                waiting.removeFirst(first)
                first = 0
            }
            guard first < waiting.count else { return nil }
            defer { first += 1 }
            return waiting[first]
        }
    }

    private let threads: Int
    private let longest: Int
    private let queue = DispatchQueue(label: "merchantkeyd.postgresql", attributes: .concurrent)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - threads: how many jobs run at the same time.
    ///   - longest: how many jobs can wait.
    package init(threads: Int, longest: Int) {
        self.threads = threads
        self.longest = longest
    }

    /// How many jobs wait for a thread.
    package var waitingCount: Int { state.withLock { $0.waiting.count - $0.first } }

    /// Runs a job, and returns its result.
    ///
    /// - Parameter limit: how long the job may wait for a thread. If the database does not respond, the jobs that wait
    ///   must get an error, instead of waiting ever longer. The limit is checked when a thread is free.
    /// - Throws: the error of the job; `overloaded` if too many jobs wait, or if the job has waited for longer than
    ///   `limit`. The job is then not run.
    package func run<Result: Sendable>(
        waitingAtMost limit: Duration, _ job: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        let latest = ContinuousClock.now + limit
        return try await withCheckedThrowingContinuation { continuation in
            do {
                try add {
                    continuation.resume(
                        with: Swift.Result {
                            guard ContinuousClock.now <= latest else { throw Self.waitedTooLong }
                            return try job()
                        })
                }
            } catch { continuation.resume(throwing: error) }
        }
    }

    private static let waitedTooLong = MerchantError(
        .overloaded, "the read has waited too long, because earlier reads of the database take long: try again")

    /// - Throws: `overloaded` if too many jobs wait. The job is then not run.
    private func add(_ job: @escaping @Sendable () -> Void) throws(MerchantError) {
        let mustStart: Bool? = state.withLock { state in
            guard state.waiting.count - state.first < longest else { return nil }
            state.waiting.append(job)
            guard state.running < threads else { return false }
            state.running += 1
            return true
        }
        guard let mustStart else {
            throw MerchantError(.overloaded, "\(longest) reads already wait for the database: try again")
        }
        if mustStart { queue.async { self.run() } }
    }

    private func run() {
        while true {
            let job = state.withLock { state -> (@Sendable () -> Void)? in
                if let job = state.next() { return job }
                state.running -= 1
                return nil
            }
            guard let job else { return }
            job()
        }
    }
}

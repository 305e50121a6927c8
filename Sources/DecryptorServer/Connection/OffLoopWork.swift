import MerchantCore
import Synchronization

/// Runs the requests that must not run on an event loop, because they block a thread or suspend. The number of such
/// requests is limited over all connections.
final class OffLoopWork: Sendable {
    typealias Job = @Sendable () async -> Void

    private let limit: Int
    /// The number of requests that wait for a thread or are running.
    private let outstanding = Atomic<Int>(0)
    private let pool: BlockingPool
    private let jobs: AsyncStream<Job>.Continuation

    /// - Parameters:
    ///   - limit: how many requests may wait or run at the same time.
    ///   - pool: the threads for work that blocks its thread.
    ///   - jobs: the stream of work that suspends. The server reads this stream and runs each job in its own child
    ///     task.
    init(limit: Int, pool: BlockingPool, jobs: AsyncStream<Job>.Continuation) {
        self.limit = limit
        self.pool = pool
        self.jobs = jobs
    }

    /// Runs a body that blocks its thread.
    ///
    /// - Parameter completion: called once, on any thread.
    /// - Throws: `overloaded` if the limit is reached.
    func start(
        _ body: @escaping @Sendable () throws -> EncodedResponse,
        completion: @escaping @Sendable (Result<EncodedResponse, any Error>) -> Void
    ) throws(MerchantError) {
        try countStart()
        pool.run(body) { result in
            self.countEnd()
            completion(result)
        }
    }

    /// Runs a body that suspends.
    ///
    /// - Parameter completion: called once, on any thread.
    /// - Throws: `overloaded` if the limit is reached or the server is shutting down.
    func start(
        _ body: @escaping @Sendable () async throws -> EncodedResponse,
        completion: @escaping @Sendable (Result<EncodedResponse, any Error>) -> Void
    ) throws(MerchantError) {
        try countStart()
        let result = jobs.yield {
            let result: Result<EncodedResponse, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            self.countEnd()
            completion(result)
        }
        guard case .enqueued = result else {
            countEnd()
            throw MerchantError(.overloaded, "the daemon is shutting down; try again later")
        }
    }

    private func countStart() throws(MerchantError) {
        guard outstanding.add(1, ordering: .relaxed).newValue <= limit else {
            countEnd()
            throw MerchantError(.overloaded, "\(limit) requests are already waiting or running; try again later")
        }
    }

    private func countEnd() { outstanding.subtract(1, ordering: .relaxed) }
}

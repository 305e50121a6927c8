import MerchantCore
import Synchronization

/// Runs the requests that must not run on an event loop, because they block a thread or suspend. The number of such
/// requests is limited over all connections.
final class OffLoopWork: Sendable {
    typealias Job = @Sendable () async -> Void

    private let bound: Int
    private let waiting = Atomic<Int>(0)
    private let pool: BlockingPool
    private let jobs: AsyncStream<Job>.Continuation

    /// - Parameter jobs: the jobs that suspend. The server reads this stream and runs each job in its own child task.
    init(bound: Int, pool: BlockingPool, jobs: AsyncStream<Job>.Continuation) {
        self.bound = bound
        self.pool = pool
        self.jobs = jobs
    }

    /// Runs a body that blocks its thread.
    ///
    /// - Parameter completion: called once, on any thread.
    /// - Throws: `overloaded` if too many requests already wait.
    func start(
        _ body: @escaping @Sendable () throws -> EncodedResponse,
        completion: @escaping @Sendable (Result<EncodedResponse, any Error>) -> Void
    ) throws(MerchantError) {
        try begin()
        pool.run(body) { result in
            self.end()
            completion(result)
        }
    }

    /// Runs a body that suspends.
    func start(
        _ body: @escaping @Sendable () async throws -> EncodedResponse,
        completion: @escaping @Sendable (Result<EncodedResponse, any Error>) -> Void
    ) throws(MerchantError) {
        try begin()
        let result = jobs.yield {
            let result: Result<EncodedResponse, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            self.end()
            completion(result)
        }
        guard case .enqueued = result else {
            end()
            throw MerchantError(.overloaded, "the daemon is shutting down; try again later")
        }
    }

    private func begin() throws(MerchantError) {
        guard waiting.add(1, ordering: .relaxed).newValue <= bound else {
            end()
            throw MerchantError(.overloaded, "\(bound) requests already wait; try again later")
        }
    }

    private func end() { waiting.subtract(1, ordering: .relaxed) }
}

import MerchantCore
import Synchronization

/// Requests that wait for something: bounded in number over all connections.
final class OffLoopWork: Sendable {
    typealias Job = @Sendable () async -> Void

    private let bound: Int
    private let waiting = Atomic<Int>(0)
    private let pool: BlockingPool
    private let jobs: AsyncStream<Job>.Continuation

    /// - Parameter jobs: read by the service, which runs each as a child task of its own.
    init(bound: Int, pool: BlockingPool, jobs: AsyncStream<Job>.Continuation) {
        self.bound = bound
        self.pool = pool
        self.jobs = jobs
    }

    /// - Parameter completion: called once, on whichever thread.
    /// - Throws: `overloaded` where too many wait already.
    func start(
        _ body: @escaping @Sendable () throws -> Response,
        completion: @escaping @Sendable (Result<Response, any Error>) -> Void
    ) throws(MerchantError) {
        try begin()
        pool.run(body) { result in
            self.end()
            completion(result)
        }
    }

    /// As above, for what waits for others.
    func start(
        _ body: @escaping @Sendable () async throws -> Response,
        completion: @escaping @Sendable (Result<Response, any Error>) -> Void
    ) throws(MerchantError) {
        try begin()
        let result = jobs.yield {
            let result: Result<Response, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            self.end()
            completion(result)
        }
        guard case .enqueued = result else {
            end()
            throw MerchantError(.overloaded, "the daemon is ending, expected the request again later")
        }
    }

    private func begin() throws(MerchantError) {
        guard waiting.add(1, ordering: .relaxed).newValue <= bound else {
            end()
            throw MerchantError(.overloaded, "\(bound) requests wait already, expected this one again later")
        }
    }

    private func end() { waiting.subtract(1, ordering: .relaxed) }
}

import NIOCore
import NIOPosix

/// Threads that may wait for the disk, so that event loops and tasks need not.
struct BlockingPool: Sendable {
    private let threads: NIOThreadPool

    init(threads count: Int) {
        threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
    }

    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(body)
    }

    /// - Parameter completion: called on the thread that did it, or with a failure where the pool has ended.
    func run(
        _ body: @escaping @Sendable () throws -> Response,
        completion: @escaping @Sendable (Result<Response, any Error>) -> Void
    ) {
        threads.submit { state in
            switch state {
            case .active: completion(Result { try body() })
            case .cancelled: completion(.failure(NIOThreadPoolError.ThreadPoolInactive()))
            }
        }
    }

    func shutDown() async throws { try await threads.shutdownGracefully() }
}

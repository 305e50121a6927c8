import NIOCore
import NIOPosix

/// Threads for work that waits for the disk or computes for a long time. On an event loop or a thread of Swift's task
/// executor, such work would delay other requests.
struct BlockingPool: Sendable {
    private let threads: NIOThreadPool

    init(threads count: Int) {
        threads = NIOThreadPool(numberOfThreads: count)
        threads.start()
    }

    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(body)
    }

    /// - Parameter completion: called on the thread that ran the body. If the pool was shut down, it is called with an
    ///   error.
    func run(
        _ body: @escaping @Sendable () throws -> EncodedResponse,
        completion: @escaping @Sendable (Result<EncodedResponse, any Error>) -> Void
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

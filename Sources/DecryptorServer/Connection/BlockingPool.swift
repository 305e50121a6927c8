import MerchantCore
package import NIOCore
import NIOPosix

/// Threads for work that waits for the disk or computes for a long time. On an event loop or a thread of Swift's task
/// executor, such work would delay other requests.
package struct BlockingPool: Sendable {
    private let threads: NIOThreadPool
    private let longestWait: TimeAmount

    /// - Parameter longestWait: how long work may wait for a thread. If the database does not respond, the requests
    ///   that wait must get an error, instead of waiting ever longer. The limit is checked when a thread is free.
    package init(threads count: Int, longestWait: TimeAmount) {
        threads = NIOThreadPool(numberOfThreads: count)
        self.longestWait = longestWait
        threads.start()
    }

    /// - Throws: the error of the body. If the body was not run: `overloaded` if it has waited for a thread for too
    ///   long, or another error if the pool was shut down.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await threads.runIfActive(limitingWait(of: body))
    }

    /// - Parameter completion: called once, with the result of the body: on a thread of the pool, or on any thread if
    ///   the pool was shut down. If the body has waited for a thread for too long, it is not run, and the result is the
    ///   error `overloaded`. If the pool was shut down, the result is an error too.
    package func run(
        _ body: @escaping @Sendable () throws -> EncodedResponse,
        completion: @escaping @Sendable (Result<EncodedResponse, any Error>) -> Void
    ) {
        let limited = limitingWait(of: body)
        threads.submit { state in
            switch state {
            case .active: completion(Result(catching: limited))
            case .cancelled: completion(.failure(NIOThreadPoolError.ThreadPoolInactive()))
            }
        }
    }

    private func limitingWait<Value>(of body: @escaping @Sendable () throws -> Value) -> @Sendable () throws -> Value {
        let latest = NIODeadline.now() + longestWait
        return {
            guard NIODeadline.now() <= latest else {
                throw MerchantError(.overloaded, "the request waited too long for a free thread; try again later")
            }
            return try body()
        }
    }

    package func shutDown() async throws { try await threads.shutdownGracefully() }
}

import Dispatch
import Synchronization

/// Runs erasures one after another on a thread of its own, because an erasure may wait for a lock for seconds. On a
/// thread for reads, it would delay reads.
///
/// One erasure serves all callers that requested an erasure before it began. So no caller waits for more than two
/// erasures.
package final class ErasureQueue: Sendable {
    private struct LastErasure {
        /// The number of the last request before the erasure began.
        var request = 0
        var result = Result<Void, any Error>.success(())
    }

    private let erase: @Sendable () throws -> Void
    private let requests = Atomic(0)
    /// Locked while an erasure runs. Only `thread` uses it.
    private let last = Mutex(LastErasure())
    private let thread = DispatchQueue(label: "merchantkeyd.postgresql.erasure")

    package init(_ erase: @escaping @Sendable () throws -> Void) { self.erase = erase }

    /// How many erasures were requested.
    package var requestCount: Int { requests.load(ordering: .sequentiallyConsistent) }

    /// Waits for an erasure that begins after this call, and returns when that erasure has ended.
    ///
    /// - Throws: the error of the erasure.
    package func run() async throws {
        let request = requests.add(1, ordering: .sequentiallyConsistent).newValue
        try await withCheckedThrowingContinuation { continuation in
            thread.async { continuation.resume(with: self.result(for: request)) }
        }
    }

    private func result(for request: Int) -> Result<Void, any Error> {
        last.withLock { last in
            if last.request < request {
                last.request = requestCount
                last.result = Result { try erase() }
            }
            return last.result
        }
    }
}

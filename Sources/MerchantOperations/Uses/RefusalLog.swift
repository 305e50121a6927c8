package import MerchantCore
import Synchronization
import Vocabulary

/// Counts, in memory, the refused requests that are not in the audit yet.
package final class RefusalLog: Sendable {
    private let clock: any WallClock
    private let unrecorded = Mutex(RefusedRequests())

    package init(clock: any WallClock) { self.clock = clock }

    /// Counts a refused request.
    package func note(_ refusal: RefusalKind) {
        let now = clock.now
        unrecorded.withLock { $0.add(refusal, Occurrences(count: 1, first: now, last: now)) }
    }

    /// Removes all refused requests and returns them, so that the caller can record them in the audit.
    func collect() -> RefusedRequests {
        unrecorded.withLock { unrecorded in
            defer { unrecorded = RefusedRequests() }
            return unrecorded
        }
    }

    /// Adds collected requests again, if they could not be recorded.
    func putBack(_ collected: RefusedRequests) {
        let groups = collected.groups
        unrecorded.withLock { unrecorded in for (group, requests) in groups { unrecorded.add(group, requests) } }
    }
}

package import MerchantCore
import Synchronization
import Vocabulary

/// Counts the refused requests that are not in the audit yet. A refusal only changes a counter in memory.
package final class RefusalLog: Sendable {
    private let clock: any WallClock
    private let gathered = Mutex(RefusedRequests())

    package init(clock: any WallClock) { self.clock = clock }

    package func note(_ refusal: Refusal) {
        let now = clock.now
        gathered.withLock { $0.add(refusal, ObservedUse(count: 1, first: now, last: now)) }
    }

    func collect() -> RefusedRequests {
        gathered.withLock { gathered in
            defer { gathered = RefusedRequests() }
            return gathered
        }
    }

    func putBack(_ refused: RefusedRequests) {
        let groups = refused.groups
        gathered.withLock { gathered in for (group, seen) in groups { gathered.add(group, seen) } }
    }
}

import MerchantCore
import Synchronization
package import Vocabulary

/// A clock that stands still until a test moves it.
package final class HandMovedClock: WallClock {
    private let moment: Mutex<Timestamp>

    /// 2026-11-21T05:00:00Z unless said otherwise.
    package init(_ start: Timestamp = Timestamp(millisecondsSince1970: 1_795_237_200_000)) { moment = Mutex(start) }

    package var now: Timestamp { moment.withLock { $0 } }

    package func advance(by duration: Duration) { moment.withLock { $0 = $0.adding(duration) } }
}

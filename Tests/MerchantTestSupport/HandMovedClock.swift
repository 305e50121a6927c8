import MerchantCore
import Synchronization
package import Vocabulary

/// Clocks that change only when a test moves them.
package final class HandMovedClock: WallClock {
    private struct State {
        var now: Timestamp
        var uptime = Duration.seconds(1_000)
        var boots = 1
    }

    private let state: Mutex<State>

    /// 2026-11-21T05:00:00Z by default.
    package init(_ start: Timestamp = Timestamp(millisecondsSince1970: 1_795_237_200_000)) {
        state = Mutex(State(now: start))
    }

    package var now: Timestamp { state.withLock { $0.now } }
    package var uptime: Duration { state.withLock { $0.uptime } }
    package var bootIdentifier: String { state.withLock { "boot-\($0.boots)" } }

    /// Advances all clocks.
    package func advance(by duration: Duration) {
        state.withLock {
            $0.now = $0.now.adding(duration)
            $0.uptime += duration
        }
    }

    /// Sets the wall clock, forward or back; no time passes.
    package func step(by duration: Duration) { state.withLock { $0.now = $0.now.adding(duration) } }

    /// Reboots the machine.
    package func reboot(offFor duration: Duration = .zero) {
        state.withLock {
            $0.now = $0.now.adding(duration)
            $0.uptime = .seconds(10)
            $0.boots += 1
        }
    }
}

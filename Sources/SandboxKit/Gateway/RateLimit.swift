import Synchronization
import Vocabulary

/// Limits the number of calls in each second of the clock. Apple documents no such limit, but a client must handle a
/// limit if Apple has one.
final class RateLimit: Sendable {
    private struct State {
        var second: Int64 = 0
        var calls = 0
        var rejected = 0
    }

    private let callsPerSecond: Int
    private let state = Mutex(State())

    init(callsPerSecond: Int) { self.callsPerSecond = callsPerSecond }

    /// The number of rejected calls.
    var rejectedCalls: Int { state.withLock { $0.rejected } }

    /// Counts a call, and returns whether it is within the limit.
    func admits(at now: Timestamp) -> Bool {
        state.withLock { state in
            let second = now.millisecondsSince1970 / 1000
            if second != state.second { (state.second, state.calls) = (second, 0) }
            guard state.calls < callsPerSecond else {
                state.rejected += 1
                return false
            }
            state.calls += 1
            return true
        }
    }
}

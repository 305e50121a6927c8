import Synchronization
import Vocabulary

/// Lets so many calls through in each second of the clock and no more. Apple documents no limit; other gateways have one.
final class RateLimit: Sendable {
    private struct State {
        var second: Int64 = 0
        var calls = 0
        var refused = 0
    }

    private let mostInASecond: Int
    private let state = Mutex(State())

    init(mostInASecond: Int) { self.mostInASecond = mostInASecond }

    /// How many calls were one too many.
    var refused: Int { state.withLock { $0.refused } }

    func admits(at now: Timestamp) -> Bool {
        state.withLock { state in
            let second = now.millisecondsSince1970 / 1000
            if second != state.second { (state.second, state.calls) = (second, 0) }
            guard state.calls < mostInASecond else {
                state.refused += 1
                return false
            }
            state.calls += 1
            return true
        }
    }
}

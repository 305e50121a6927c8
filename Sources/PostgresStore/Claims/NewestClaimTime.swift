import MerchantCore
import Synchronization
import Vocabulary

/// The latest time of any claim that was opened or inserted. It never decreases, and a failed commit does not take it
/// back.
///
/// With it, the store detects that the machine's clock is behind the newest claim; see
/// ``PostgresClaims/toleratedSetBack``.
final class NewestClaimTime: Sendable {
    private struct State {
        /// Nil if there was no claim yet.
        var time: Timestamp?
        /// When the machine's clock was first found to be behind; nil if it is not.
        var behindSince: Timestamp?
    }

    private let state: Mutex<State>

    init(_ time: Timestamp?) { state = Mutex(State(time: time)) }

    /// A new claim must be later than this time; nil if there was no claim yet.
    var limit: Timestamp? { state.withLock { $0.time.map(Self.limit(for:)) } }

    private static func limit(for newestClaim: Timestamp) -> Timestamp {
        newestClaim.adding(.zero - PostgresClaims.toleratedSetBack)
    }

    /// Sets the time, unless it is already later.
    func advance(to time: Timestamp) {
        state.withLock { state in state.time = state.time.map { max($0, time) } ?? time }
    }

    /// - Returns: nil if a claim at the time `now` is accepted.
    func clockBehindClaims(at now: Timestamp) -> ClockBehindClaims? {
        state.withLock { state in
            guard let time = state.time, now <= Self.limit(for: time) else {
                state.behindSince = nil
                return nil
            }
            let since = state.behindSince ?? now
            state.behindSince = since
            return ClockBehindClaims(newestClaim: time, since: since, until: Self.limit(for: time))
        }
    }
}

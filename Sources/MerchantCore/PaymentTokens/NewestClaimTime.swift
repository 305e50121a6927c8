import Synchronization
package import Vocabulary

/// The latest time of the stored claims, both those that were stored when the database was opened and those that were
/// inserted since. It never decreases, even if a commit fails.
///
/// With it, the store detects that the machine's clock is behind the newest claim; see ``ClaimRules/toleratedSetBack``.
package final class NewestClaimTime: Sendable {
    private struct State {
        /// Nil if there was no claim yet.
        var time: Timestamp?
        /// When the machine's clock was first found to be behind; nil if it is not.
        var behindSince: Timestamp?
    }

    private let state: Mutex<State>
    private let removal: String

    /// - Parameter removal: how an operator removes the claims: ``ClockBehindClaims/removal``.
    package init(_ time: Timestamp?, removal: String) {
        state = Mutex(State(time: time))
        self.removal = removal
    }

    /// A new claim must be later than this time; nil if there was no claim yet.
    package var limit: Timestamp? { state.withLock { $0.time.map(Self.limit(for:)) } }

    private static func limit(for newestClaim: Timestamp) -> Timestamp {
        newestClaim.adding(.zero - ClaimRules.toleratedSetBack)
    }

    /// Sets the time, unless it is already later.
    package func advance(to time: Timestamp) {
        state.withLock { state in state.time = state.time.map { max($0, time) } ?? time }
    }

    /// - Returns: nil if a claim at the time `now` is accepted.
    package func clockBehindClaims(at now: Timestamp) -> ClockBehindClaims? {
        state.withLock { state in
            guard let time = state.time, now <= Self.limit(for: time) else {
                state.behindSince = nil
                return nil
            }
            let since = state.behindSince ?? now
            state.behindSince = since
            return ClockBehindClaims(
                newestClaim: time, since: since, until: Self.limit(for: time), removal: removal)
        }
    }
}

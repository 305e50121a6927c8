import LocalSocket
import Synchronization

/// The connections that are open, each counted on its user's share.
final class OpenConnections: Sendable {
    struct Refusal: Sendable {
        let reason: String
        /// The first since there was room: worth a line in the log, the others would only fill it.
        let isFirst: Bool
    }

    private struct State: Sendable {
        var shares: ConnectionShares
        var isRefusing = false
    }

    private let state: Mutex<State>

    init(_ bounds: ConnectionShares.Bounds) { state = Mutex(State(shares: ConnectionShares(bounds))) }

    /// - Returns: nil where the connection was counted.
    func take(_ holder: ConnectionShares.Holder) -> Refusal? {
        state.withLock { state in
            let reason = state.shares.take(holder)
            defer { state.isRefusing = reason != nil }
            return reason.map { Refusal(reason: $0, isFirst: !state.isRefusing) }
        }
    }

    func giveBack(_ holder: ConnectionShares.Holder) { state.withLock { $0.shares.giveBack(holder) } }
}

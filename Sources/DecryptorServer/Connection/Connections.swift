import LocalSocket
import NIOCore
import Synchronization

/// Which connections are open, and whether there may be more.
final class Connections: Sendable {
    enum Admission: Hashable, Sendable {
        case admitted
        /// To be told so, and why; the first one since there was room is worth a line in the log.
        case refused(reason: String, isFirst: Bool)
        /// To be closed without a word: too many are being told, or the daemon ends.
        case dropped
    }

    private struct State: Sendable {
        var shares: ConnectionShares
        var admitted: [ObjectIdentifier: any Channel] = [:]
        var refused: [ObjectIdentifier: any Channel] = [:]
        var isDraining = false
        var isRefusing = false
    }

    private let state: Mutex<State>

    init(_ bounds: ConnectionShares.Bounds) { state = Mutex(State(shares: ConnectionShares(bounds))) }

    /// Counts the connection until it closes.
    func admit(_ channel: any Channel, of holder: ConnectionShares.Holder) -> Admission {
        let id = ObjectIdentifier(channel)
        let admission: Admission = state.withLock { state in
            guard !state.isDraining else { return .dropped }
            guard let reason = state.shares.take(holder) else {
                state.admitted[id] = channel
                state.isRefusing = false
                return .admitted
            }
            guard state.refused.count < Limits.refusedConnections else { return .dropped }
            state.refused[id] = channel
            defer { state.isRefusing = true }
            return .refused(reason: reason, isFirst: !state.isRefusing)
        }
        if admission != .dropped { channel.closeFuture.whenComplete { _ in self.forget(id, holder) } }
        return admission
    }

    private func forget(_ id: ObjectIdentifier, _ holder: ConnectionShares.Holder) {
        state.withLock { state in
            if state.admitted.removeValue(forKey: id) != nil { state.shares.giveBack(holder) }
            state.refused[id] = nil
        }
    }

    /// Admits no more.
    ///
    /// - Returns: every connection still open.
    func beginDrain() -> [any Channel] {
        state.withLock { state in
            state.isDraining = true
            return Array(state.admitted.values) + Array(state.refused.values)
        }
    }
}

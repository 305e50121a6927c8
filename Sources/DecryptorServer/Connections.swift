import NIOCore
import Synchronization

/// Which connections are open, and whether there may be more.
final class Connections: Sendable {
    enum Admission: Hashable, Sendable {
        case admitted
        /// To be told so; the first one since there was room is worth a line in the log.
        case refused(isFirst: Bool)
        /// To be closed without a word: too many are being told, or the daemon ends.
        case dropped
    }

    private struct State: Sendable {
        var admitted: [ObjectIdentifier: any Channel] = [:]
        var refused: [ObjectIdentifier: any Channel] = [:]
        var isDraining = false
        var isRefusing = false
    }

    private let bound: Int
    private let state = Mutex(State())

    init(bound: Int) { self.bound = bound }

    /// Counts the connection until it closes.
    func admit(_ channel: any Channel) -> Admission {
        let id = ObjectIdentifier(channel)
        let admission: Admission = state.withLock { state in
            guard !state.isDraining else { return .dropped }
            if state.admitted.count < bound {
                state.admitted[id] = channel
                state.isRefusing = false
                return .admitted
            }
            guard state.refused.count < Limits.refusedConnections else { return .dropped }
            state.refused[id] = channel
            defer { state.isRefusing = true }
            return .refused(isFirst: !state.isRefusing)
        }
        if admission != .dropped { channel.closeFuture.whenComplete { _ in self.forget(id) } }
        return admission
    }

    private func forget(_ id: ObjectIdentifier) {
        state.withLock { state in
            state.admitted[id] = nil
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

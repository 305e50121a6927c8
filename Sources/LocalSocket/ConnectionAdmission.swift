package import NIOCore
import Synchronization

/// Limits the number of open connections: decides whether a new connection may stay open, and keeps a list of the open
/// connections.
package final class ConnectionAdmission: Sendable {
    /// What the caller of ``admit(_:of:)`` must do with a new connection.
    package enum Decision: Hashable, Sendable {
        case admitted
        /// Send a response with the reason, and then close the connection. `isFirst` is true for the first refusal
        /// after an admitted connection: only that refusal is logged.
        case refused(reason: String, isFirst: Bool)
        /// Close the connection without a response, because too many refused connections are still open or the server
        /// is shutting down.
        case dropped
    }

    /// How many refused connections may be open at the same time. Further connections are dropped.
    package static let maximumOpenRefused = 64

    private struct State: Sendable {
        var quotas: UserQuotas
        var admitted: [ObjectIdentifier: any Channel] = [:]
        var refused: [ObjectIdentifier: any Channel] = [:]
        /// Whether the server is shutting down.
        var isDraining = false
        /// Whether a connection was refused since the last admitted connection.
        var isRefusing = false
    }

    private let state: Mutex<State>

    package init(_ limits: UserQuotas.Limits) { state = Mutex(State(quotas: UserQuotas(limits))) }

    /// Admits, refuses or drops a new connection. An admitted or refused connection is counted until it closes.
    package func admit(_ channel: any Channel, of holder: UserQuotas.Holder) -> Decision {
        let id = ObjectIdentifier(channel)
        let decision: Decision = state.withLock { state in
            guard !state.isDraining else { return .dropped }
            do throws(UserQuotas.Exhausted) {
                try state.quotas.take(for: holder)
            } catch {
                guard state.refused.count < Self.maximumOpenRefused else { return .dropped }
                state.refused[id] = channel
                defer { state.isRefusing = true }
                return .refused(
                    reason: Self.reason(error, state.quotas.limits), isFirst: !state.isRefusing)
            }
            state.admitted[id] = channel
            state.isRefusing = false
            return .admitted
        }
        if decision != .dropped { channel.closeFuture.whenComplete { _ in self.forget(id, holder) } }
        return decision
    }

    private static func reason(_ exhausted: UserQuotas.Exhausted, _ limits: UserQuotas.Limits) -> String {
        switch exhausted {
        case .total: "\(limits.total) connections are already open"
        case .user(let uid): "the user with uid \(uid) already has \(limits.perUser) open connections"
        case .remote(let name): "the client \(name) already has \(limits.perUser) open connections"
        case .withoutPermit: "callers without a permit already have \(limits.withoutPermit) open connections"
        }
    }

    private func forget(_ id: ObjectIdentifier, _ holder: UserQuotas.Holder) {
        state.withLock { state in
            if state.admitted.removeValue(forKey: id) != nil { state.quotas.giveBack(from: holder) }
            state.refused[id] = nil
        }
    }

    /// Begins the shutdown: from now on, every new connection is dropped.
    ///
    /// - Returns: every connection that is still open, admitted or refused.
    package func beginDrain() -> [any Channel] {
        state.withLock { state in
            state.isDraining = true
            return Array(state.admitted.values) + Array(state.refused.values)
        }
    }
}

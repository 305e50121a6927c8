package import NIOCore
import Synchronization

/// Limits the number of open connections: decides whether a new connection may stay open, and keeps a list of the open
/// connections.
package final class ConnectionAdmission: Sendable {
    /// What the caller of ``admit(_:of:)`` must do with a new connection.
    package enum Decision: Hashable, Sendable {
        case admitted
        /// Send a response with the reason, and then close the connection. `isFirst` is true if no connection was
        /// refused since the last one that was admitted: only such a refusal is logged.
        case refused(reason: String, isFirst: Bool)
        /// Close the connection without a response, because too many refused connections are still open or the server
        /// is shutting down.
        case dropped
    }

    /// How many refused connections may be open at the same time. Further connections are dropped.
    package static let maximumOpenRefused = 64

    fileprivate struct State: Sendable {
        var quotas: UserQuotas
        var admitted = AdmittedConnections()
        var refused: [ObjectIdentifier: any Channel] = [:]
        /// Whether the server is shutting down.
        var isDraining = false
        /// Whether a connection was refused since the last admitted connection.
        var isRefusing = false
    }

    private let waitingGiveWay: Bool
    private let state: Mutex<State>

    /// - Parameter waitingGiveWay: whether a new connection above a limit replaces a connection that waits for its
    ///   client (``setWaitsForClient(_:_:)``). If this is false, or if no connection that counts toward the limit
    ///   waits, the new one is refused.
    package init(_ limits: UserQuotas.Limits, waitingGiveWay: Bool = false) {
        self.waitingGiveWay = waitingGiveWay
        state = Mutex(State(quotas: UserQuotas(limits)))
    }

    /// Admits, refuses or drops a new connection. An admitted or refused connection is counted until it closes.
    package func admit(_ channel: any Channel, of holder: UserQuotas.Holder) -> Decision {
        let id = ObjectIdentifier(channel)
        let (decision, replaced) = state.withLock { state -> (Decision, (any Channel)?) in
            guard !state.isDraining else { return (.dropped, nil) }
            let replaced = waitingGiveWay ? state.makeRoom(for: holder) : nil
            do throws(UserQuotas.Exhausted) {
                try state.quotas.take(for: holder)
            } catch {
                guard state.refused.count < Self.maximumOpenRefused else { return (.dropped, replaced) }
                state.refused[id] = channel
                defer { state.isRefusing = true }
                return (
                    .refused(reason: Self.reason(error, state.quotas.limits), isFirst: !state.isRefusing), replaced
                )
            }
            state.admitted.insert(channel, of: holder)
            state.isRefusing = false
            return (.admitted, replaced)
        }
        replaced?.close(promise: nil)
        if decision != .dropped { channel.closeFuture.whenComplete { _ in self.forget(id) } }
        return decision
    }

    /// Notes whether an admitted connection waits for its client: for a request, or until the client has read a
    /// response. A new connection waits for its first request. ``AdmittedConnections/removeLongestWaiting(of:held:)``
    /// chooses the waiting connection that a new connection replaces.
    package func setWaitsForClient(_ waits: Bool, _ channel: any Channel) {
        state.withLock { $0.admitted.setWaitsForClient(waits, ObjectIdentifier(channel)) }
    }

    private static func reason(_ exhausted: UserQuotas.Exhausted, _ limits: UserQuotas.Limits) -> String {
        switch exhausted {
        case .total: "\(limits.total) connections are already open"
        case .user(let uid): "the user with uid \(uid) already has \(limits.perUser) open connections"
        case .remote(let name): "the client \(name) already has \(limits.perUser) open connections"
        case .withoutPermit: "callers without a permit already have \(limits.withoutPermit) open connections"
        }
    }

    private func forget(_ id: ObjectIdentifier) {
        state.withLock { state in
            if let removed = state.admitted.remove(id) { state.quotas.giveBack(from: removed.holder) }
            state.refused[id] = nil
        }
    }

    /// Begins the shutdown: from now on, every new connection is dropped.
    ///
    /// - Returns: every connection that is still open, admitted or refused.
    package func beginDrain() -> [any Channel] {
        state.withLock { state in
            state.isDraining = true
            return state.admitted.channels + Array(state.refused.values)
        }
    }
}

extension ConnectionAdmission.State {
    /// If a limit is reached, removes a connection that waits for its client.
    ///
    /// - Returns: the removed connection, which the caller must close; nil if none was removed.
    fileprivate mutating func makeRoom(for holder: UserQuotas.Holder) -> (any Channel)? {
        let before = quotas
        let isOwnShareUsed = !before.hasShare(for: holder)
        guard isOwnShareUsed || !before.hasRoom else { return nil }
        let removed = admitted.removeLongestWaiting(
            of: isOwnShareUsed ? holder : nil, held: { before.held(by: $0) })
        guard let removed else { return nil }
        quotas.giveBack(from: removed.holder)
        return removed.channel
    }
}

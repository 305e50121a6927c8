import LocalSocket
import NIOCore

/// Shares the time of one event loop among the connected Unix users, so that one user who floods the socket cannot
/// delay the payments of others for long.
///
/// While at most ``requestsPerWindow`` requests arrive in each ``window``, the first ``Limits/requestsPerTurn``
/// requests of each read are handled at once. All other requests wait, and the users take turns. While a request waits,
/// new requests wait too. A turn handles up to ``Limits/requestsPerTurn`` requests of one of the user's connections. A
/// user with one connection therefore waits for at most one turn of each other user, even if other users have many
/// connections. Use a scheduler only on its event loop.
final class FairScheduler {
    /// How many requests in one ``window`` are handled at once at most. Most requests take 5 to 25 µs; a key agreement
    /// takes 50 µs.
    private static let requestsPerWindow = 96
    private static let window = TimeAmount.milliseconds(1)
    /// How long one tick handles waiting requests before the event loop reads the sockets again.
    private static let tickDuration = TimeAmount.microseconds(500)
    /// The delay before the next tick. Without a delay, the event loop would run the tick before it reads the sockets
    /// again.
    private static let pauseBeforeTick = TimeAmount.microseconds(20)

    private let loop: any EventLoop
    /// How many more requests of the current window may be handled as soon as they are read.
    private var remainingInWindow = requestsPerWindow
    private var windowEnd = NIODeadline.now()
    /// The users with connections that wait for a turn, in the order of the users' turns.
    private var users = CircularBuffer<UserQuotas.Holder>()
    private var connections: [UserQuotas.Holder: CircularBuffer<ConnectionHandler>] = [:]

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Counts a request, and returns whether it may be handled now. If not, the caller must keep the request and call
    /// ``enqueue(_:of:)``.
    func mayHandle(at now: NIODeadline) -> Bool {
        guard users.isEmpty else { return false }
        if now >= windowEnd {
            remainingInWindow = Self.requestsPerWindow
            windowEnd = now + Self.window
        }
        remainingInWindow -= 1
        return remainingInWindow >= 0
    }

    /// Adds a connection that has waiting requests. The requests are handled in turns of the connection's user.
    func enqueue(_ connection: ConnectionHandler, of user: UserQuotas.Holder) {
        if users.isEmpty { scheduleTick() }
        append(connection, of: user)
    }

    private func append(_ connection: ConnectionHandler, of user: UserQuotas.Holder) {
        if connections[user] == nil { users.append(user) }
        connections[user, default: CircularBuffer()].append(connection)
    }

    private func scheduleTick() {
        loop.assumeIsolated().scheduleTask(in: Self.pauseBeforeTick) { self.tick() }
    }

    /// Gives turns to the waiting users for ``tickDuration``.
    private func tick() {
        let end = NIODeadline.now() + Self.tickDuration
        while NIODeadline.now() < end, let user = users.popFirst() {
            guard var queue = connections.removeValue(forKey: user), let connection = queue.popFirst() else { continue }
            if !queue.isEmpty {
                users.append(user)
                connections[user] = queue
            }
            connection.handleWaiting(atMost: Limits.requestsPerTurn)
            if connection.hasWaiting { append(connection, of: user) }
        }
        if !users.isEmpty { scheduleTick() }
    }
}

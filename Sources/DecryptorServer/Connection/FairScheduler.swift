import LocalSocket
import NIOCore

/// Shares an event loop's time among users, so that one user who floods the socket does not delay the payments of others.
///
/// While requests come no faster than ``requestsPerWindow``, each is handled when it is read. Beyond that rate they wait,
/// and users take turns: a user with one connection waits for one turn of each other user, however many connections the
/// others have. Used on its event loop only.
final class FairScheduler {
    /// Requests that are handled when they are read, in one ``window``; each takes 5 to 25 µs.
    private static let requestsPerWindow = 96
    private static let window = TimeAmount.milliseconds(1)
    /// How long waiting requests are handled before the sockets are read again.
    private static let tick = TimeAmount.microseconds(500)
    /// A task that is due at once would run before the sockets are read again.
    private static let pause = TimeAmount.microseconds(20)

    private let loop: any EventLoop
    private var left = requestsPerWindow
    private var windowEnd = NIODeadline.now()
    /// Users with waiting connections, in the order of their turns.
    private var users = CircularBuffer<Shares.Holder>()
    private var connections: [Shares.Holder: CircularBuffer<ConnectionHandler>] = [:]

    init(_ loop: any EventLoop) { self.loop = loop }

    /// Whether a request may be handled now. Where not, its connection waits by ``wait(_:of:)``.
    func mayHandleNow() -> Bool {
        guard users.isEmpty else { return false }
        let now = NIODeadline.now()
        if now >= windowEnd {
            left = Self.requestsPerWindow
            windowEnd = now + Self.window
        }
        left -= 1
        return left >= 0
    }

    /// Adds a connection whose requests must be handled in its user's next turn.
    func wait(_ connection: ConnectionHandler, of user: Shares.Holder) {
        if users.isEmpty { scheduleTick() }
        append(connection, of: user)
    }

    private func append(_ connection: ConnectionHandler, of user: Shares.Holder) {
        if connections[user] == nil { users.append(user) }
        connections[user, default: CircularBuffer()].append(connection)
    }

    private func scheduleTick() {
        loop.assumeIsolated().scheduleTask(in: Self.pause) { self.tick() }
    }

    private func tick() {
        let end = NIODeadline.now() + Self.tick
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

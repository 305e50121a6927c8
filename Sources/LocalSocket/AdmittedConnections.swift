import NIOCore

/// The open connections that ``ConnectionAdmission`` has admitted, and the order in which those that wait for their
/// clients began to wait.
struct AdmittedConnections: Sendable {
    struct Connection: Sendable {
        let channel: any Channel
        let holder: UserQuotas.Holder
        /// A number that is lower for a wait that began earlier; nil while the server works on a request.
        fileprivate var wait: Int?
    }

    private var connections: [ObjectIdentifier: Connection] = [:]
    /// The number that was given to a wait last.
    private var lastWait = 0

    var channels: [any Channel] { connections.values.map(\.channel) }

    /// Adds a connection, which waits for its client.
    mutating func insert(_ channel: any Channel, of holder: UserQuotas.Holder) {
        let wait = nextWait()
        connections[ObjectIdentifier(channel)] = Connection(channel: channel, holder: holder, wait: wait)
    }

    mutating func setWaitsForClient(_ isWaiting: Bool, _ id: ObjectIdentifier) {
        let wait = isWaiting ? nextWait() : nil
        connections[id]?.wait = wait
    }

    mutating func remove(_ id: ObjectIdentifier) -> Connection? { connections.removeValue(forKey: id) }

    /// Removes one of the connections that wait for their clients. Among the holders with waiting connections, chooses
    /// those that have the most open connections, and among their waiting connections the one that has waited longest.
    /// So a holder with few connections usually keeps them.
    ///
    /// - Parameters:
    ///   - holder: removes only a connection of this holder; nil for a connection of any holder.
    ///   - held: returns how many connections a holder has.
    /// - Returns: nil if no such connection waits.
    mutating func removeLongestWaiting(
        of holder: UserQuotas.Holder?, held: (UserQuotas.Holder) -> Int
    ) -> Connection? {
        let waiting = connections.compactMap { id, connection -> (id: ObjectIdentifier, held: Int, wait: Int)? in
            guard let wait = connection.wait, holder.map({ $0 == connection.holder }) ?? true else { return nil }
            return (id, held(connection.holder), wait)
        }
        guard let longest = waiting.max(by: { ($0.held, -$0.wait) < ($1.held, -$1.wait) }) else { return nil }
        return remove(longest.id)
    }

    private mutating func nextWait() -> Int {
        lastWait += 1
        return lastWait
    }
}

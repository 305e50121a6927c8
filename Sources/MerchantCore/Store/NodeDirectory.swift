package import Vocabulary

/// One of the daemons that share a database.
package struct NodeState: Hashable, Sendable {
    package let name: String
    /// The version of the program.
    package let version: String
    package let joinedAt: Timestamp
    /// How much longer the lease is valid; negative since its end.
    package let leaseRemaining: Duration
    /// How many changes of key pairs the node has not applied yet.
    package let unappliedChanges: Int
    /// Whether the node is the leader: it does the work that only one node does, such as the delivery of events.
    package let isLeader: Bool
    /// Whether this is the daemon that answers.
    package let isThisDaemon: Bool

    package init(
        name: String, version: String, joinedAt: Timestamp, leaseRemaining: Duration, unappliedChanges: Int,
        isLeader: Bool, isThisDaemon: Bool
    ) {
        (self.name, self.version, self.joinedAt) = (name, version, joinedAt)
        (self.leaseRemaining, self.unappliedChanges) = (leaseRemaining, unappliedChanges)
        (self.isLeader, self.isThisDaemon) = (isLeader, isThisDaemon)
    }
}

/// Knows the daemons that share the database.
package protocol NodeDirectory: Sendable {
    /// - Returns: the nodes, sorted by name; none if no other daemon can use the database.
    func nodes() async throws -> [NodeState]
}

/// For a database that only this daemon uses.
package struct NoNodes: NodeDirectory {
    package init() {}
    package func nodes() -> [NodeState] { [] }
}

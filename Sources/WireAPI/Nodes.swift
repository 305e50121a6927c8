package import Vocabulary

extension Paths {
    package static let nodes = "/v1/nodes"
}

/// One of the daemons that share a PostgreSQL database, as `GET /v1/nodes` lists it.
package struct NodeDocument: Codable, Hashable, Sendable {
    /// The setting `store.postgresql.node`.
    package let name: String
    /// The version of the program.
    package let version: String
    package let joinedAt: Timestamp
    /// How much longer the lease is valid, in seconds; negative since its end.
    package let leaseSeconds: Double
    /// How many changes of key pairs the daemon has not applied yet to what it has in memory.
    package var unappliedChanges = 0
    /// Whether the daemon is the leader, which delivers events and runs the schedules.
    package var isLeader = false
    /// Whether this is the daemon that answers.
    package var isThisDaemon = false

    package init(_ name: String, version: String, joinedAt: Timestamp, leaseSeconds: Double) {
        (self.name, self.version, self.joinedAt, self.leaseSeconds) = (name, version, joinedAt, leaseSeconds)
    }
}

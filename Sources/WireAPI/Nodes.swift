package import Vocabulary

extension Paths {
    package static let nodes = "/v1/nodes"
    package static func node(_ name: NodeName) -> String { "\(nodes)/\(name)" }
}

/// One of the daemons that share a PostgreSQL database, as `GET /v1/nodes` lists it.
package struct NodeDocument: Codable, Hashable, Sendable {
    /// The setting `store.postgresql.node`.
    package let name: NodeName
    /// The version of the program.
    package let version: String
    package let joinedAt: Timestamp
    /// How much longer the lease is valid, in seconds; negative after it has ended.
    package let leaseSeconds: Double
    /// How much longer the daemon may use the keys in its memory if it cannot renew its lease, in seconds:
    /// ``leaseSeconds`` plus the setting `store.postgresql.serve-stale`. Negative after this time has ended.
    package let cacheSeconds: Double
    /// How many changes of key pairs the daemon has not applied yet to its caches.
    package var unappliedChanges = 0
    /// Whether the daemon is the leader, which delivers events and runs the schedules.
    package var isLeader = false
    /// Whether this is the daemon that sends the response.
    package var isThisDaemon = false

    package init(
        _ name: NodeName, version: String, joinedAt: Timestamp, leaseSeconds: Double, cacheSeconds: Double
    ) {
        (self.name, self.version, self.joinedAt) = (name, version, joinedAt)
        (self.leaseSeconds, self.cacheSeconds) = (leaseSeconds, cacheSeconds)
    }
}

import MerchantCore
import StoreCore
import Vocabulary

/// The statements on the table `nodes`.
struct NodeRows {
    /// How long after its end the other daemons still treat a lease as valid, so that a small jump of the server's clock
    /// does no harm.
    private static let slack = "interval '1 second'"

    let connection: Connection
    let node: Node

    /// Begins a lease of the node.
    ///
    /// - Returns: the number of the last change in the table `key_changes`; nil if another daemon has a lease under the
    ///   same name.
    func join(for length: Duration, at now: Timestamp) throws -> Int? {
        try connection.query(
            """
            INSERT INTO nodes (name, run, version, joined_at, lease_end, applied_change)
            SELECT $1::text, $2::bigint, $3::text, $4::bigint, \(Self.end(of: length)), coalesce(max(number), 0)
            FROM key_changes
            ON CONFLICT (name) DO UPDATE SET run = excluded.run, version = excluded.version,
                joined_at = excluded.joined_at, lease_end = excluded.lease_end, applied_change = excluded.applied_change
            WHERE nodes.run = excluded.run OR nodes.run = $5 OR nodes.lease_end < clock_timestamp()
            RETURNING applied_change
            """, [node.name, node.run, node.version, now, node.predecessor]
        ).first?.integer("applied_change")
    }

    /// - Returns: false if the lease has run out, or if the row was removed or belongs to another daemon.
    func renew(for length: Duration) throws -> Bool {
        try connection.query(
            """
            UPDATE nodes SET lease_end = \(Self.end(of: length))
            WHERE name = $1 AND run = $2 AND lease_end > clock_timestamp()
            """, [node.name, node.run]
        ).changedRows == 1
    }

    func storeApplied(_ number: Int) throws {
        _ = try connection.query(
            "UPDATE nodes SET applied_change = $3 WHERE name = $1 AND run = $2", [node.name, node.run, number])
    }

    func leave() throws {
        _ = try connection.query(
            "UPDATE leader SET lease_end = '-infinity' WHERE name = $1 AND run = $2", [node.name, node.run])
        _ = try connection.query("DELETE FROM nodes WHERE name = $1 AND run = $2", [node.name, node.run])
    }

    /// Removes the rows of daemons whose leases ended more than a week ago.
    func removeOld() throws {
        try connection.run("DELETE FROM nodes WHERE lease_end < clock_timestamp() - interval '7 days'")
    }

    /// Becomes or stays the leader until the end of this daemon's lease.
    ///
    /// - Returns: false if another daemon is the leader.
    func takeLeadership() throws -> Bool {
        try connection.query(
            """
            UPDATE leader SET name = nodes.name, run = nodes.run, lease_end = nodes.lease_end FROM nodes
            WHERE nodes.name = $1 AND nodes.run = $2
                AND (leader.run = $2 OR leader.run = $3 OR leader.lease_end < clock_timestamp() - \(Self.slack))
            """, [node.name, node.run, node.predecessor]
        ).changedRows == 1
    }

    /// The last change that every other node with a lease has applied; nil if no other node has a lease.
    func lowestAppliedByOthers() throws -> Int? {
        try connection.query(
            """
            SELECT min(applied_change) AS lowest FROM nodes
            WHERE run <> $1 AND lease_end > clock_timestamp() - \(Self.slack)
            """, [node.run]
        ).first?.int64IfAny("lowest").map { Int($0) }
    }

    func newestDataKey() throws -> Int? {
        try connection.query("SELECT max(id) AS newest FROM data_keys").first?.int64IfAny("newest").map { Int($0) }
    }

    /// All nodes, sorted by name.
    func all() throws -> [NodeState] {
        try connection.query(
            """
            SELECT nodes.name, nodes.run, nodes.version, joined_at,
                (extract(epoch FROM nodes.lease_end - clock_timestamp()) * 1000)::bigint AS remaining,
                (SELECT count(*) FROM key_changes WHERE number > applied_change) AS unapplied,
                coalesce(leader.run = nodes.run AND leader.lease_end > clock_timestamp(), false) AS is_leader
            FROM nodes LEFT JOIN leader ON true ORDER BY nodes.name
            """
        ).rows.map { row in
            NodeState(
                name: try row.text("name"), version: try row.text("version"), joinedAt: try row.timestamp("joined_at"),
                leaseRemaining: .milliseconds(try row.int64("remaining")),
                unappliedChanges: try row.integer("unapplied"), isLeader: try row.flag("is_leader"),
                isThisDaemon: try row.int64("run") == node.run)
        }
    }

    private static func end(of length: Duration) -> String {
        "clock_timestamp() + interval '\(length.milliseconds) milliseconds'"
    }
}

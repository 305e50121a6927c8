import MerchantCore
import StoreCore
import Vocabulary

/// The statements on the table `nodes`.
struct NodeRows {
    /// How long the other daemons treat a lease as valid after its end, so that a small jump of the server's clock does
    /// no harm.
    private static let slack = "interval '1 second'"

    let connection: Connection
    let node: Node

    /// Begins a lease of the node.
    ///
    /// - Returns: the number of the last change in the table `key_changes`; nil if another daemon has a lease under the
    ///   same name, or may still use its caches after the end of such a lease.
    func join(_ timing: LeaseTiming, at now: Timestamp) throws -> Int? {
        try connection.query(
            """
            INSERT INTO nodes (name, run, version, joined_at, lease_end, cache_end, uses_stored_at, applied_change)
            SELECT $1::text, $2::bigint, $3::text, $4::bigint, \(Self.ends(timing)), clock_timestamp(),
                coalesce(max(number), 0)
            FROM key_changes
            ON CONFLICT (name) DO UPDATE SET run = excluded.run, version = excluded.version,
                joined_at = excluded.joined_at, lease_end = excluded.lease_end, cache_end = excluded.cache_end,
                uses_stored_at =
                    CASE WHEN nodes.run = excluded.run THEN nodes.uses_stored_at ELSE excluded.uses_stored_at END,
                applied_change = excluded.applied_change, loaded_data_key = 0, sealing_data_key = 0, master_keys = ''
            WHERE nodes.run = excluded.run OR nodes.run = $5
                OR greatest(nodes.lease_end, nodes.cache_end) < clock_timestamp() - \(Self.slack)
            RETURNING applied_change
            """, [node.name.rawValue, node.run, node.version, now, node.predecessor]
        ).first?.integer("applied_change")
    }

    /// - Returns: the time of the server; nil if the lease has ended, or if the row was removed or belongs to another
    ///   run.
    func renew(_ timing: LeaseTiming) throws -> Timestamp? {
        try connection.query(
            """
            UPDATE nodes SET (lease_end, cache_end) = (\(Self.ends(timing)))
            WHERE name = $1 AND run = $2 AND lease_end > clock_timestamp()
            RETURNING (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS time
            """, [node.name.rawValue, node.run]
        ).first?.timestamp("time")
    }

    func storeApplied(_ number: Int) throws {
        _ = try connection.query(
            "UPDATE nodes SET applied_change = $3 WHERE name = $1 AND run = $2", [node.name.rawValue, node.run, number])
    }

    func recordUsesStored(ago age: Duration) throws {
        _ = try connection.query(
            """
            UPDATE nodes SET uses_stored_at = clock_timestamp() - $3::bigint * interval '1 millisecond'
            WHERE name = $1 AND run = $2
            """, [node.name.rawValue, node.run, age.milliseconds])
    }

    func leave() throws {
        _ = try connection.query(
            "UPDATE leader SET lease_end = '-infinity' WHERE name = $1 AND run = $2", [node.name.rawValue, node.run])
        _ = try connection.query("DELETE FROM nodes WHERE name = $1 AND run = $2", [node.name.rawValue, node.run])
    }

    /// Removes the rows of daemons whose leases ended more than a week ago.
    func removeOld() throws {
        try connection.run("DELETE FROM nodes WHERE lease_end < clock_timestamp() - interval '7 days'")
    }

    /// Makes this daemon the leader until the end of its lease, or keeps it the leader.
    ///
    /// - Returns: false if another daemon is the leader, or if this daemon has no row in `nodes`.
    func takeLeadership() throws -> Bool {
        try connection.query(
            """
            UPDATE leader SET name = nodes.name, run = nodes.run, lease_end = nodes.lease_end FROM nodes
            WHERE nodes.name = $1 AND nodes.run = $2
                AND (leader.run = $2 OR leader.run = $3 OR leader.lease_end < clock_timestamp() - \(Self.slack))
            """, [node.name.rawValue, node.run, node.predecessor]
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

    private static let keyColumns = "loaded_data_key, sealing_data_key, master_keys"

    func store(_ keys: NodeKeys) throws {
        _ = try connection.query(
            "UPDATE nodes SET (\(Self.keyColumns)) = ROW ($3::bigint, $4::bigint, $5::text) WHERE name = $1 AND run = $2",
            [node.name.rawValue, node.run] + keys.values)
    }

    /// - Returns: true also if the node has no row, because ``store(_:)`` would then change nothing.
    func hasStored(_ keys: NodeKeys) throws -> Bool {
        try connection.query(
            """
            SELECT FROM nodes WHERE name = $1 AND run = $2
                AND (\(Self.keyColumns)) IS DISTINCT FROM ($3::bigint, $4::bigint, $5::text)
            """, [node.name.rawValue, node.run] + keys.values
        ).first == nil
    }

    /// The keys of the other nodes with a lease.
    func keysOfOthers() throws -> [NodeName: NodeKeys] {
        let rows = try connection.query(
            """
            SELECT name, \(Self.keyColumns) FROM nodes
            WHERE run <> $1 AND lease_end > clock_timestamp() - \(Self.slack)
            """, [node.run]
        ).rows
        return Dictionary(
            try rows.map { (try $0.nodeName(), try NodeKeys($0)) }, uniquingKeysWith: { first, _ in first })
    }

    /// The other nodes that may use their caches without a lease, and have not applied the last change.
    func staleNodes() throws -> [NodeName] {
        try connection.query(
            """
            SELECT name FROM nodes WHERE run <> $1 AND lease_end <= clock_timestamp() - \(Self.slack)
                AND cache_end > clock_timestamp() - \(Self.slack)
                AND applied_change < (SELECT max(number) FROM key_changes)
            ORDER BY name
            """, [node.run]
        ).rows.map { try $0.nodeName() }
    }

    /// Removes the row of a node whose lease has ended.
    ///
    /// - Returns: false if the lease of the node is valid.
    /// - Throws: `notFound` if there is no such node.
    func remove(_ name: NodeName) throws -> Bool {
        let removed = try connection.query(
            "DELETE FROM nodes WHERE name = $1 AND lease_end <= clock_timestamp() - \(Self.slack)", [name.rawValue])
        if removed.changedRows == 1 { return true }
        guard try connection.query("SELECT FROM nodes WHERE name = $1", [name.rawValue]).first != nil else {
            throw MerchantError.nodeNotFound(name)
        }
        return false
    }

    func newestDataKey() throws -> Int? {
        try connection.query("SELECT max(id) AS newest FROM data_keys").first?.int64IfAny("newest").map { Int($0) }
    }

    /// All nodes, sorted by name.
    func all() throws -> [NodeState] {
        try connection.query(
            """
            SELECT nodes.name, nodes.run, nodes.version, joined_at,
                (extract(epoch FROM nodes.lease_end - clock_timestamp()) * 1000)::bigint AS lease_remaining,
                (extract(epoch FROM nodes.cache_end - clock_timestamp()) * 1000)::bigint AS cache_remaining,
                (extract(epoch FROM clock_timestamp() - uses_stored_at) * 1000)::bigint AS uses_stored_before,
                (SELECT count(*) FROM key_changes WHERE number > applied_change) AS unapplied,
                coalesce(leader.run = nodes.run AND leader.lease_end > clock_timestamp(), false) AS is_leader
            FROM nodes LEFT JOIN leader ON true ORDER BY nodes.name
            """
        ).rows.map { row in
            NodeState(
                name: try row.nodeName(), version: try row.text("version"), joinedAt: try row.timestamp("joined_at"),
                leaseRemaining: .milliseconds(try row.int64("lease_remaining")),
                cacheRemaining: .milliseconds(try row.int64("cache_remaining")),
                timeSinceUsesStored: .milliseconds(try row.int64("uses_stored_before")),
                unappliedChanges: try row.integer("unapplied"), isLeader: try row.flag("is_leader"),
                isThisDaemon: try row.int64("run") == node.run)
        }
    }

    /// The values of `lease_end` and `cache_end` for a lease that begins now.
    private static func ends(_ timing: LeaseTiming) -> String {
        [timing.length, timing.length + timing.serveStale].map {
            "clock_timestamp() + interval '\($0.milliseconds) milliseconds'"
        }.joined(separator: ", ")
    }
}

extension Row {
    fileprivate func nodeName() throws -> NodeName { try value(NodeName(try text("name")), of: "name") }
}

extension NodeKeys {
    /// The values of the columns of the keys. The identifiers are sorted, so that equal values have equal texts.
    fileprivate var values: [(any SQLValue)?] {
        [loadedDataKey, sealingDataKey, masterKeys.map(\.description).sorted().joined(separator: " ")]
    }

    fileprivate init(_ row: Row) throws {
        let identifiers = try row.text("master_keys").split(separator: " ").map {
            try row.value(Hex.decode($0), of: "master_keys")
        }
        self.init(
            masterKeys: Set(identifiers.map { MasterKeyIdentifier(bytes: $0) }),
            loadedDataKey: try row.integer("loaded_data_key"), sealingDataKey: try row.integer("sealing_data_key"))
    }
}

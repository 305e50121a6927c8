package import Vocabulary

/// One of the daemons that share a database.
package struct NodeState: Hashable, Sendable {
    package let name: NodeName
    /// The version of the program.
    package let version: String
    package let joinedAt: Timestamp
    /// How much longer the lease is valid; negative after its end.
    package let leaseRemaining: Duration
    /// How much longer the node may use its caches if it cannot renew its lease; negative after that time.
    package let cacheRemaining: Duration
    /// The database contains all uses of keys that the node observed at least this long ago.
    package let timeSinceUsesStored: Duration
    /// How many changes of key pairs the node has not applied yet.
    package let unappliedChanges: Int
    /// Whether the node is the leader: it does the work that only one node does, such as the delivery of events.
    package let isLeader: Bool
    /// Whether this is the daemon that answers.
    package let isThisDaemon: Bool

    package init(
        name: NodeName, version: String, joinedAt: Timestamp, leaseRemaining: Duration, cacheRemaining: Duration,
        timeSinceUsesStored: Duration, unappliedChanges: Int, isLeader: Bool, isThisDaemon: Bool
    ) {
        (self.name, self.version, self.joinedAt) = (name, version, joinedAt)
        (self.leaseRemaining, self.cacheRemaining) = (leaseRemaining, cacheRemaining)
        (self.timeSinceUsesStored, self.unappliedChanges) = (timeSinceUsesStored, unappliedChanges)
        (self.isLeader, self.isThisDaemon) = (isLeader, isThisDaemon)
    }
}

/// The keys that seal private keys, as far as one of the daemons has them in memory.
package struct NodeKeys: Hashable, Sendable {
    /// The master keys that the daemon can read, whether or not they are in use.
    package let masterKeys: Set<MasterKeyIdentifier>
    /// The highest identifier of a data key that the daemon has.
    package let loadedDataKey: Int
    /// The data key under which the daemon seals private keys.
    package let sealingDataKey: Int

    package init(masterKeys: Set<MasterKeyIdentifier>, loadedDataKey: Int, sealingDataKey: Int) {
        (self.masterKeys, self.loadedDataKey, self.sealingDataKey) = (masterKeys, loadedDataKey, sealingDataKey)
    }
}

/// The keys that each of the daemons on a database has in memory. A rotation of the keys needs this information.
package protocol NodeKeyDirectory: Sendable {
    /// - Returns: the keys of each other daemon with a lease, by the daemon's name.
    func keysOfOthers() async throws -> [NodeName: NodeKeys]

    /// Stores which keys this daemon has. Writes nothing if the database already contains the same keys.
    func publish(_ keys: NodeKeys) async throws
}

/// The list of the daemons that share the database.
package protocol NodeDirectory: Sendable {
    /// - Returns: the nodes, sorted by name; none if no other daemon can use the database.
    func nodes() async throws -> [NodeState]

    /// The other nodes that may still use key pairs in their state before the last change, sorted by name. The leases
    /// of these nodes have ended, but their settings let them use their caches for longer. Nodes with a lease are not
    /// in the list, because a change waits until they have applied it.
    func staleNodes() async throws -> [NodeName]

    /// Records that the database contains all uses of keys that this daemon observed at least `age` ago.
    func recordUsesStored(ago age: Duration) async throws

    /// Removes a node whose lease has ended from the list, and appends `entry` to the audit, in one transaction.
    ///
    /// - Throws: `notFound` if there is no such node; `nodeInUse` if its lease is valid.
    func remove(_ name: NodeName, recording entry: AuditEntry) async throws
}

extension MerchantError {
    package static func nodeNotFound(_ name: NodeName) -> MerchantError {
        MerchantError(.notFound, "there is no node \(name): 'node list' shows the nodes")
    }

    package static func nodeInUse(_ name: NodeName) -> MerchantError {
        MerchantError(
            .nodeInUse,
            "the lease of the node \(name) is valid: stop its daemon; after a kill, wait until the lease ends")
    }
}

/// For a database that only this daemon uses.
package struct NoNodes: NodeDirectory, NodeKeyDirectory {
    package init() {}
    package func keysOfOthers() -> [NodeName: NodeKeys] { [:] }
    package func publish(_ keys: NodeKeys) {}
    package func nodes() -> [NodeState] { [] }
    package func staleNodes() -> [NodeName] { [] }
    package func recordUsesStored(ago age: Duration) {}
    package func remove(_ name: NodeName, recording entry: AuditEntry) throws { throw MerchantError.nodeNotFound(name) }
}

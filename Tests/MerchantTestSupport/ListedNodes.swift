package import MerchantCore
import Synchronization
package import Vocabulary

/// The daemons on a database, as a test lists them.
package final class ListedNodes: NodeDirectory {
    private let listed = Mutex<[NodeState]>([])

    package init() {}

    /// Replaces the list with one node.
    ///
    /// - Parameters:
    ///   - leaseRemaining: how much longer the lease of the node is valid.
    ///   - cacheRemaining: how much longer the node may use its caches.
    ///   - timeSinceUsesStored: how long ago the node last stored its uses of keys.
    package func set(
        _ name: NodeName, leaseRemaining: Duration, cacheRemaining: Duration, timeSinceUsesStored: Duration = .zero
    ) {
        listed.withLock {
            $0 = [
                NodeState(
                    name: name, version: "1", joinedAt: Timestamp(millisecondsSince1970: 0),
                    leaseRemaining: leaseRemaining,
                    cacheRemaining: cacheRemaining, timeSinceUsesStored: timeSinceUsesStored, unappliedChanges: 1,
                    isLeader: false,
                    isThisDaemon: false)
            ]
        }
    }

    package func nodes() -> [NodeState] { listed.withLock { $0 } }

    package func staleNodes() -> [NodeName] {
        nodes().filter { $0.leaseRemaining <= .zero && $0.cacheRemaining > .zero }.map(\.name)
    }

    package func recordUsesStored(ago age: Duration) {}

    package func remove(_ name: NodeName, recording entry: AuditEntry) {
        listed.withLock { nodes in nodes.removeAll { $0.name == name } }
    }
}

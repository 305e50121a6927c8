package import MerchantCore
package import Vocabulary

/// The daemons on the database, and which of them is this daemon.
package struct PostgresNodes: NodeDirectory {
    private let store: PostgresStore
    private let node: Node

    package init(_ store: PostgresStore, _ node: Node) { (self.store, self.node) = (store, node) }

    package func nodes() async throws -> [NodeState] {
        try await store.readStore { try NodeRows(connection: $0.connection, node: node).all() }
    }

    package func staleNodes() async throws -> [NodeName] {
        try await store.readStore { try NodeRows(connection: $0.connection, node: node).staleNodes() }
    }

    package func remove(_ name: NodeName, recording entry: AuditEntry) async throws {
        try await store.writeStore { transaction in
            guard try NodeRows(connection: transaction.connection, node: node).remove(name) else {
                throw MerchantError.nodeInUse(name)
            }
            try transaction.append(entry)
        }
    }

    /// The names of the other daemons that have a lease now, sorted.
    package func namesOfOthers() async throws -> [String] {
        try await nodes().filter { !$0.isThisDaemon && $0.leaseRemaining > .zero }.map(\.name.rawValue)
    }
}

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

    package func recordUsesStored(ago age: Duration) async throws {
        try await store.writeStore {
            try NodeRows(connection: $0.connection, node: node).recordUsesStored(ago: age)
        }
    }

    package func remove(_ name: NodeName, recording entry: AuditEntry) async throws {
        try await store.writeStore { transaction in
            guard try NodeRows(connection: transaction.connection, node: node).remove(name) else {
                throw MerchantError.nodeInUse(name)
            }
            try transaction.append(entry)
        }
    }
}

extension PostgresNodes: NodeKeyDirectory {
    package func keysOfOthers() async throws -> [NodeName: NodeKeys] {
        try await store.readStore { try NodeRows(connection: $0.connection, node: node).keysOfOthers() }
    }

    package func publish(_ keys: NodeKeys) async throws {
        let isPublished = try await store.readStore {
            try NodeRows(connection: $0.connection, node: node).hasStored(keys)
        }
        guard !isPublished else { return }
        try await store.writeStore { try NodeRows(connection: $0.connection, node: node).store(keys) }
    }
}

package import MerchantCore
package import Vocabulary

/// Lists the daemons that share the database, and removes those that do not run any more.
package struct NodeOperations: Sendable {
    private let directory: any NodeDirectory
    private let clock: any WallClock

    package init(_ directory: any NodeDirectory, clock: any WallClock) {
        (self.directory, self.clock) = (directory, clock)
    }

    /// The nodes, sorted by name; none if no other daemon can use the database.
    package func list() async throws -> [NodeState] { try await directory.nodes() }

    /// Removes a node whose lease has ended from the list. The node must not run any more: with the setting
    /// `store.postgresql.serve-stale` a daemon uses its caches after the end of its lease, and only the nodes in the
    /// list are named in the response to a revocation.
    ///
    /// - Returns: the node, as it was in the list.
    /// - Throws: `notFound` if there is no such node; `nodeInUse` if its lease is valid.
    package func remove(_ name: NodeName, dryRun: Bool, for request: Request) async throws -> NodeState {
        guard let node = try await directory.nodes().first(where: { $0.name == name }) else {
            throw MerchantError.nodeNotFound(name)
        }
        guard node.leaseRemaining <= .zero else { throw MerchantError.nodeInUse(name) }
        if !dryRun {
            try await directory.remove(
                name, recording: request.auditEntry(.nodeRemoved, at: clock.now, reason: "node=\(name)"))
        }
        return node
    }
}

import HTTPTypes
package import MerchantCore
import MerchantOperations
package import RESTKit
package import Vocabulary
import WireAPI

extension AdminRoutes {
    static let nodes: [AdminRoute] = [
        .reads("/v1/nodes", AdminHandlers.listNodes),
        .changes(
            .delete, "/v1/nodes/{nodeName}", logMessage: "node removed", effect: .destroys, query: ["dryRun"],
            maximumBodyBytes: 0, AdminHandlers.removeNode),
    ]
}

/// A node belongs to no merchant.
extension NodeName: PathParameter {
    package static let name = "nodeName"

    package func owner(_ owners: some ResourceOwners) -> MerchantIdentifier? { nil }

    package var notFoundError: MerchantError { .nodeNotFound(self) }
}

extension AdminHandlers {
    func listNodes(_ call: RESTCall) async throws -> RESTResponse {
        let found = try await operations.nodes.list()
        return try RESTResponse(Page(items: found.map(NodeDocument.init), nextCursor: nil))
    }

    func removeNode(_ call: RESTCall, _ name: NodeName) async throws -> RESTResponse {
        let dryRun = try call.dryRun()
        let node = try await operations.nodes.remove(name, dryRun: dryRun, for: call.request)
        return try RESTResponse(NodeDocument(node)).withLogFields(dryRun: dryRun)
    }
}

extension NodeDocument {
    fileprivate init(_ node: NodeState) {
        self.init(
            node.name, version: node.version, joinedAt: node.joinedAt,
            leaseSeconds: Self.seconds(node.leaseRemaining), cacheSeconds: Self.seconds(node.cacheRemaining))
        (unappliedChanges, isLeader, isThisDaemon) = (node.unappliedChanges, node.isLeader, node.isThisDaemon)
    }

    private static func seconds(_ duration: Duration) -> Double { Double(duration / .milliseconds(1)) / 1000 }
}

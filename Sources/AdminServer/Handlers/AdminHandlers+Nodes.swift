import HTTPTypes
import MerchantCore
import RESTKit
import WireAPI

extension AdminRoutes {
    static let nodes: [AdminRoute] = [.reads("/v1/nodes", AdminHandlers.listNodes)]
}

extension AdminHandlers {
    func listNodes(_ call: RESTCall) async throws -> RESTResponse {
        let found = try await operations.nodes.nodes()
        return try RESTResponse(Page(items: found.map(NodeDocument.init), nextCursor: nil))
    }
}

extension NodeDocument {
    fileprivate init(_ node: NodeState) {
        self.init(
            node.name, version: node.version, joinedAt: node.joinedAt,
            leaseSeconds: Double(node.leaseRemaining / .milliseconds(1)) / 1000)
        (unappliedChanges, isLeader, isThisDaemon) = (node.unappliedChanges, node.isLeader, node.isThisDaemon)
    }
}

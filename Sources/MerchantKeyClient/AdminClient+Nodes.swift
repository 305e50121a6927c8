import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// The daemons that share the PostgreSQL database; none on SQLite.
    package func nodes() async throws(ClientError) -> Response<Page<NodeDocument>> {
        try await httpClient.fetch(SocketCall(path: Paths.nodes))
    }

    /// Removes a node whose lease has ended.
    ///
    /// - Parameter dryRun: if true, the daemon only checks whether the node can be removed.
    package func removeNode(_ name: NodeName, dryRun: Bool) async throws(ClientError) -> Response<NodeDocument> {
        var call = SocketCall(method: .DELETE, path: Paths.node(name))
        if dryRun { call.query = [("dryRun", "true")] }
        return try await httpClient.fetch(call)
    }
}

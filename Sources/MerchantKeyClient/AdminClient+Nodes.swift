package import WireAPI

extension AdminClient {
    /// The daemons that share the PostgreSQL database; none on SQLite.
    package func nodes() async throws(ClientError) -> Response<Page<NodeDocument>> {
        try await httpClient.fetch(SocketCall(path: Paths.nodes))
    }
}

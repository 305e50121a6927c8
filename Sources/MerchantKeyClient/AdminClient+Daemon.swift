package import FoundationEssentials
package import WireAPI

extension AdminClient {
    package func status() async throws(ClientError) -> Response<StatusDocument> {
        try await connection.fetch(SocketCall(path: Paths.status))
    }

    /// Whether the daemon is live and ready. A daemon that is not ready sends the same document with status 503; that
    /// status does not make this method throw.
    package func health() async throws(ClientError) -> Response<HealthDocument> {
        try await connection.fetch(SocketCall(path: Paths.health, documentStatuses: [503]))
    }

    /// The OpenAPI document of both sockets, as YAML.
    package func openAPI() async throws(ClientError) -> Data {
        try await connection.send(SocketCall(path: Paths.openAPI, accept: "application/yaml"))
    }
}

package import FoundationEssentials
package import WireAPI

extension AdminClient {
    package func status() async throws(ClientError) -> Answer<StatusDocument> {
        try await connection.fetch(SocketCall(path: Paths.status))
    }

    /// Live, ready and why not; an answer also where the daemon is not ready.
    package func health() async throws(ClientError) -> Answer<HealthDocument> {
        try await connection.fetch(SocketCall(path: Paths.health, alsoAnswering: [503]))
    }

    /// The contract of both sockets, YAML.
    package func openAPI() async throws(ClientError) -> Data {
        try await connection.send(SocketCall(path: Paths.openAPI, accept: "application/yaml"))
    }
}

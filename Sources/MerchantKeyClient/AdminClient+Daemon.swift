package import FoundationEssentials
import NIOCore
package import WireAPI

extension AdminClient {
    /// The numbers of merchants, keys and rolls, the state of backups and webhooks, and the problems that the daemon
    /// found.
    ///
    /// - Parameter seconds: the timeout of the call; nil for the default of 60 s.
    package func status(within seconds: Int? = nil) async throws(ClientError) -> Response<StatusDocument> {
        var call = SocketCall(path: Paths.status)
        if let seconds { call.timeout = .seconds(Int64(seconds)) }
        return try await httpClient.fetch(call)
    }

    /// Whether the daemon is live and ready. A daemon that is not ready sends the same document with status 503. This
    /// method does not throw for status 503.
    package func health() async throws(ClientError) -> Response<HealthDocument> {
        try await httpClient.fetch(SocketCall(path: Paths.health, documentStatuses: [503]))
    }

    /// The OpenAPI document, which describes all sockets and the portal, as YAML.
    package func openAPI() async throws(ClientError) -> Data {
        try await httpClient.send(SocketCall(path: Paths.openAPI, accept: "application/yaml"))
    }
}

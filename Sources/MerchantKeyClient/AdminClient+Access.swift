import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// Creates an access, with which a machine can call the portal. Unless the request contains a client certificate,
    /// the response contains the access's token, which the daemon does not return again.
    package func createAccess(_ request: CreateAccessRequest) async throws(ClientError) -> Response<AccessDocument> {
        try await post(Paths.accesses, request)
    }

    /// Every access, including expired and revoked ones, sorted by name.
    package func accesses() async throws(ClientError) -> Listing<AccessDocument> {
        // An access can name many merchants, and a page must fit into 16 MiB, the largest response that the client
        // reads.
        try await list(Paths.accesses, pageSize: 100)
    }

    package func access(_ name: AccessName) async throws(ClientError) -> Response<AccessDocument> {
        try await httpClient.fetch(SocketCall(path: Paths.access(name)))
    }

    /// Creates a new token for an access. The response contains the token, which the daemon does not return again.
    ///
    /// - Parameter overlapSeconds: how long the old token stays valid; nil for the daemon's default, 24 hours.
    package func rotateAccess(
        _ name: AccessName, overlapSeconds: Int?
    ) async throws(ClientError) -> Response<AccessDocument> {
        var request = RotateAccessRequest()
        request.overlapSeconds = overlapSeconds
        return try await post(Paths.accessRotation(name), request)
    }

    /// Revokes an access at once.
    package func revokeAccess(_ name: AccessName) async throws(ClientError) -> Response<AccessDocument> {
        try await httpClient.fetch(SocketCall(method: .POST, path: Paths.accessRevocation(name)))
    }
}

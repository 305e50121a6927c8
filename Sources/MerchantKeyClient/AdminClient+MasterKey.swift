import NIOHTTP1
package import WireAPI

extension AdminClient {
    package func masterKey() async throws(ClientError) -> Answer<MasterKeyDocument> {
        try await connection.fetch(SocketCall(path: Paths.masterKey))
    }

    /// Begins a rotation, or joins the one that is under way; it goes on in the daemon.
    package func rotateMasterKey(
        dataKeyOnly: Bool, dryRun: Bool
    ) async throws(ClientError) -> Answer<RotationPlanDocument> {
        let body = RotateMasterKeyRequest(dataKeyOnly: dataKeyOnly, dryRun: dryRun)
        return try await connection.fetch(
            SocketCall(method: .POST, path: Paths.masterKeyRotation, body: try .encoded(body)))
    }
}

import NIOHTTP1
package import WireAPI

extension AdminClient {
    package func masterKey() async throws(ClientError) -> Response<MasterKeyDocument> {
        try await connection.fetch(SocketCall(path: Paths.masterKey))
    }

    /// Starts a rotation, or joins the one in progress. The daemon continues the rotation after it has responded.
    package func rotateMasterKey(
        dataKeyOnly: Bool, dryRun: Bool
    ) async throws(ClientError) -> Response<RotationPlanDocument> {
        var request = RotateMasterKeyRequest()
        request.dataKeyOnly = dataKeyOnly
        request.dryRun = dryRun
        return try await post(Paths.masterKeyRotation, request)
    }
}

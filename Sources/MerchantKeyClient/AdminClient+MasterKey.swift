import NIOHTTP1
package import WireAPI

extension AdminClient {
    package func masterKey() async throws(ClientError) -> Response<MasterKeyDocument> {
        try await connection.fetch(SocketCall(path: Paths.masterKey))
    }

    /// Starts a rotation of the master key, or joins a rotation in progress. The daemon responds before the rotation
    /// ends.
    ///
    /// - Parameter dataKeyOnly: whether to keep the master key, and replace only the data key (the key that seals the
    ///   private keys).
    package func rotateMasterKey(
        dataKeyOnly: Bool, dryRun: Bool
    ) async throws(ClientError) -> Response<RotationPlanDocument> {
        var request = RotateMasterKeyRequest()
        request.dataKeyOnly = dataKeyOnly
        request.dryRun = dryRun
        return try await post(Paths.masterKeyRotation, request)
    }
}

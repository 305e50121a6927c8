import NIOHTTP1
package import WireAPI

extension AdminClient {
    /// The identifier and source of the master key, never the key itself, and the progress of a rotation.
    package func masterKey() async throws(ClientError) -> Response<MasterKeyDocument> {
        try await httpClient.fetch(SocketCall(path: Paths.masterKey))
    }

    /// Starts a rotation: the replacement of the master key and the data key. If a rotation is already in progress,
    /// starts no other. The daemon responds before the rotation ends.
    ///
    /// - Parameter dataKeyOnly: whether to keep the master key, and replace only the data key. The data key encrypts
    ///   the private keys, and the master key encrypts the data key.
    package func rotateMasterKey(
        dataKeyOnly: Bool, dryRun: Bool
    ) async throws(ClientError) -> Response<RotationPlanDocument> {
        var request = RotateMasterKeyRequest()
        request.dataKeyOnly = dataKeyOnly
        request.dryRun = dryRun
        return try await post(Paths.masterKeyRotation, request)
    }
}

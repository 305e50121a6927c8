import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    package func addMerchant(_ request: AddMerchantRequest) async throws(ClientError) -> Response<MerchantDocument> {
        try await post(Paths.merchants, request)
    }

    /// Every merchant, sorted by identifier.
    package func merchants() async throws(ClientError) -> Listing<MerchantDocument> {
        try await list(Paths.merchants)
    }

    package func merchant(_ merchant: MerchantIdentifier) async throws(ClientError) -> Response<MerchantDocument> {
        try await httpClient.fetch(SocketCall(path: Paths.merchant(merchant)))
    }

    package func changeMerchant(
        _ merchant: MerchantIdentifier, _ request: ChangeMerchantRequest
    ) async throws(ClientError) -> Response<MerchantDocument> {
        try await httpClient.fetch(
            SocketCall(method: .PATCH, path: Paths.merchant(merchant), body: try .encoded(request)))
    }

    /// - Parameter dryRun: if true, the daemon only checks whether the merchant can be removed.
    package func removeMerchant(_ merchant: MerchantIdentifier, dryRun: Bool) async throws(ClientError) {
        var call = SocketCall(method: .DELETE, path: Paths.merchant(merchant))
        if dryRun { call.query = [("dryRun", "true")] }
        _ = try await httpClient.send(call)
    }
}

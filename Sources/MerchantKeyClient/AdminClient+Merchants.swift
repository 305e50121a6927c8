import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    package func addMerchant(_ request: AddMerchantRequest) async throws(ClientError) -> Response<MerchantDocument> {
        try await post(Paths.merchants, request)
    }

    /// The merchants that match, sorted by identifier.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the identifier; nil for every identifier.
    ///   - belowTarget: if true, lists only merchants that have fewer active key pairs than their target.
    ///   - limit: the largest number of merchants to list.
    package func merchants(
        prefix: String? = nil, belowTarget: Bool = false, limit: Int = .max
    ) async throws(ClientError) -> Listing<MerchantDocument> {
        var query: [(name: String, value: String)] = []
        if let prefix { query.append(("prefix", prefix)) }
        if belowTarget { query.append(("belowTarget", "true")) }
        return try await list(Paths.merchants, query: query, limit: limit)
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

import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// The last known states of merchant tokens, sorted by identifier.
    ///
    /// - Parameters:
    ///   - merchant: nil for every merchant.
    ///   - state: `linked` or `unlinked`; nil for both.
    package func merchantTokens(
        of merchant: MerchantIdentifier?, in state: String?
    ) async throws(ClientError) -> Listing<MerchantTokenDocument> {
        var query: [(name: String, value: String)] = []
        if let merchant { query.append(("merchant", merchant.rawValue)) }
        if let state { query.append(("state", state)) }
        return try await list(Paths.merchantTokens, query: query)
    }

    package func merchantToken(
        _ identifier: MerchantTokenIdentifier
    ) async throws(ClientError) -> Response<MerchantTokenDocument> {
        try await httpClient.fetch(SocketCall(path: Paths.merchantToken(identifier)))
    }

    /// Unlinks a merchant token at Apple, so that Apple accepts no further payment with the merchant token.
    ///
    /// - Parameter dryRun: if true, the daemon only checks the request, and changes nothing.
    package func unlink(
        _ identifier: MerchantTokenIdentifier, dryRun: Bool
    ) async throws(ClientError) -> Response<MerchantTokenDocument> {
        var call = SocketCall(method: .POST, path: Paths.merchantToken(identifier, .unlink))
        if dryRun { call.query = [("dryRun", "true")] }
        call.timeout = Self.appleTimeout
        return try await httpClient.fetch(call)
    }

    /// Changes the URL to which Apple sends the notifications of a merchant token.
    package func setNotificationURL(
        _ url: String, of identifier: MerchantTokenIdentifier
    ) async throws(ClientError) -> Response<MerchantTokenDocument> {
        try await httpClient.fetch(
            SocketCall(
                method: .PUT, path: Paths.merchantToken(identifier, .notificationURL),
                body: try .encoded(SetTokenNotificationURLRequest(url)), timeout: Self.appleTimeout))
    }

    /// Asks Apple for the public key of a merchant token.
    package func publicKey(
        of identifier: MerchantTokenIdentifier
    ) async throws(ClientError) -> Response<MerchantTokenPublicKeyDocument> {
        try await httpClient.fetch(
            SocketCall(path: Paths.merchantToken(identifier, .publicKey), timeout: Self.appleTimeout))
    }

    /// Notifies Apple that usage information of a merchant token is ready.
    package func notifyUsageInformation(
        of identifier: MerchantTokenIdentifier
    ) async throws(ClientError) -> Response<MerchantTokenDocument> {
        try await httpClient.fetch(
            SocketCall(
                method: .POST, path: Paths.merchantToken(identifier, .notify), timeout: Self.appleTimeout))
    }

    /// The URLs at which the portal receives notifications for a merchant, newest first.
    package func tokenNotificationURLs(
        of merchant: MerchantIdentifier
    ) async throws(ClientError) -> Response<Page<TokenNotificationURLDocument>> {
        try await httpClient.fetch(SocketCall(path: Paths.tokenNotificationURLs(of: merchant)))
    }

    /// Creates a further URL at which the portal receives notifications. The earlier URLs stay valid.
    package func createTokenNotificationURL(
        for merchant: MerchantIdentifier
    ) async throws(ClientError) -> Response<TokenNotificationURLDocument> {
        try await httpClient.fetch(SocketCall(method: .POST, path: Paths.tokenNotificationURLs(of: merchant)))
    }
}

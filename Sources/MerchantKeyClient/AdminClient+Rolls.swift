import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// Starts a roll (the replacement of a merchant's key pair by a new one), or returns the roll that is already open.
    ///
    /// - Parameter algorithm: the algorithm of the new key pair; nil for the algorithm of the merchant's only
    ///   current key, or EC_v1 if the merchant has no current key or several.
    package func startRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm?
    ) async throws(ClientError) -> Response<RollDocument> {
        var request = StartRollRequest()
        request.algorithm = algorithm
        return try await post(Paths.rolls(of: merchant), request)
    }

    /// The rolls of one merchant or of all merchants, newest first.
    ///
    /// - Parameters:
    ///   - merchant: nil for every merchant.
    ///   - state: a roll's state, or `open` for every state except `finished` and `abandoned`; nil for every state.
    package func rolls(
        of merchant: MerchantIdentifier?, state: String?, limit: Int = .max
    ) async throws(ClientError) -> Listing<RollDocument> {
        var query: [(name: String, value: String)] = []
        if let merchant { query.append(("merchant", merchant.rawValue)) }
        if let state { query.append(("state", state)) }
        return try await list(Paths.rolls, query: query, limit: limit)
    }

    package func roll(_ rollId: String) async throws(ClientError) -> Response<RollDocument> {
        try await httpClient.fetch(SocketCall(path: Paths.roll(rollId)))
    }

    /// Ends a roll: the daemon revokes the old key.
    ///
    /// - Parameter now: whether to revoke the old key even if it may still be used. This requires a reason.
    package func finishRoll(
        _ rollId: String, now: Bool, reason: String?, dryRun: Bool
    ) async throws(ClientError) -> Response<RollDocument> {
        var request = FinishRollRequest()
        request.now = now
        request.reason = reason
        request.dryRun = dryRun
        return try await post("\(Paths.roll(rollId))/finish", request)
    }

    /// Ends a roll before the new key is promoted. The old key stays in use.
    package func abandonRoll(
        _ rollId: String, reason: String?, dryRun: Bool
    ) async throws(ClientError) -> Response<RollDocument> {
        var request = AbandonRollRequest()
        request.reason = reason
        request.dryRun = dryRun
        return try await post("\(Paths.roll(rollId))/abandon", request)
    }
}

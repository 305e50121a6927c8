import NIOHTTP1
package import Vocabulary
package import WireAPI

extension AdminClient {
    /// Begins a roll, or answers the one that is open.
    ///
    /// - Parameter algorithm: nil: as the daemon chooses.
    package func startRoll(
        of merchant: MerchantIdentifier, algorithm: String?
    ) async throws(ClientError) -> Answer<RollDocument> {
        try await post(Paths.rolls(of: merchant), StartRollRequest(algorithm: algorithm))
    }

    /// Newest first.
    ///
    /// - Parameters:
    ///   - merchant: nil: of every merchant.
    ///   - state: a roll's state, or `open`; nil: every one.
    package func rolls(
        of merchant: MerchantIdentifier?, state: String?, most: Int = .max
    ) async throws(ClientError) -> Listing<RollDocument> {
        var query: [(name: String, value: String)] = []
        if let merchant { query.append(("merchant", merchant.rawValue)) }
        if let state { query.append(("state", state)) }
        return try await list(Paths.rolls, query: query, most: most)
    }

    package func roll(_ rollId: String) async throws(ClientError) -> Answer<RollDocument> {
        try await connection.fetch(SocketCall(path: Paths.roll(rollId)))
    }

    package func finishRoll(
        _ rollId: String, now: Bool, reason: String?, dryRun: Bool
    ) async throws(ClientError) -> Answer<RollDocument> {
        try await post("\(Paths.roll(rollId))/finish", FinishRollRequest(now: now, reason: reason, dryRun: dryRun))
    }

    package func abandonRoll(
        _ rollId: String, reason: String?, dryRun: Bool
    ) async throws(ClientError) -> Answer<RollDocument> {
        try await post("\(Paths.roll(rollId))/abandon", AbandonRollRequest(reason: reason, dryRun: dryRun))
    }
}

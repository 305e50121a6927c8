package import MerchantCore
package import Vocabulary

/// Replaces ``ClaimStore`` if the claims database cannot be opened, and refuses every claim of a payment token or of a
/// nonce. Requests that must claim then fail, but the daemon still serves all other requests.
package struct RefusingLedger: ClaimLedger, NonceLedger {
    private let reason: MerchantError

    package init(because reason: MerchantError) { self.reason = reason }

    package var health: StoreHealth { .failed(reason) }
    package func retryIfImpaired() {}
    package var clockBehindClaims: ClockBehindClaims? { nil }
    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome { throw reason }
    package func claim(of transactionId: Bits256) async throws -> TokenClaim? { throw reason }
    package func claimNonce(_ claim: NonceClaim) async throws { throw reason }
    package func nonceClaim(_ digest: Bits256) async throws -> NonceClaim? { throw reason }
}

package import MerchantCore
package import Vocabulary

/// A ledger that refuses every claim. The daemon uses it if the claims database cannot be opened: it then refuses
/// requests that must claim a token, and serves all others.
package struct RefusingLedger: ClaimLedger {
    private let reason: MerchantError

    package init(because reason: MerchantError) { self.reason = reason }

    package var health: StoreHealth { .failed(reason) }
    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome { throw reason }
    package func claim(of transactionId: Words256) async throws -> TokenClaim? { throw reason }
}

package import MerchantCore
package import Vocabulary

/// A ledger that refuses every claim. The daemon uses this ledger if the claims database cannot be opened. Requests that
/// must claim a token then fail, and all other requests still succeed.
package struct RefusingLedger: ClaimLedger {
    private let reason: MerchantError

    package init(because reason: MerchantError) { self.reason = reason }

    package var health: StoreHealth { .failed(reason) }
    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome { throw reason }
    package func claim(of transactionId: Bits256) async throws -> TokenClaim? { throw reason }
}

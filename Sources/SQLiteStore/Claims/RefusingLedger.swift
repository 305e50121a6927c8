package import MerchantCore
package import Vocabulary

/// Refuses every claim. Used when the claims file cannot be opened: tokens that must be claimed are refused, and everything else
/// works.
package struct RefusingLedger: ClaimLedger {
    private let reason: MerchantError

    package init(because reason: MerchantError) { self.reason = reason }

    package var health: StoreHealth { .failed(reason) }
    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome { throw reason }
    package func claim(of transactionId: Words256) async throws -> TokenClaim? { throw reason }
}

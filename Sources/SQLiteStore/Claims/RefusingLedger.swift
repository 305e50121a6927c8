package import MerchantCore
package import Vocabulary

/// Stands where the claims' file cannot be opened: no token is claimed, so none is passed that has to be, and everything
/// else goes on.
package struct RefusingLedger: ClaimLedger {
    private let reason: MerchantError

    package init(because reason: MerchantError) { self.reason = reason }

    package var health: StoreHealth { .failed(reason) }
    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome { throw reason }
    package func claim(of transactionId: Words256) async throws -> TokenClaim? { throw reason }
}

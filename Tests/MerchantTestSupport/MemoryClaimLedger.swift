package import MerchantCore
import Synchronization
package import Vocabulary

/// A claim ledger in memory, with the store's rules for repeated tokens and Idempotency-Keys. It removes no claims, and
/// refuses every claim while a failure is set.
package final class MemoryClaimLedger: ClaimLedger {
    private let claims = Mutex<[Bits256: TokenClaim]>([:])
    private let failure = Mutex<MerchantError?>(nil)
    private let behind = Mutex<ClockBehindClaims?>(nil)

    package init() {}

    package func fail(_ error: MerchantError?) { failure.withLock { $0 = error } }

    /// Sets what the ledger reports about the clock. The ledger does not refuse claims because of it.
    package func report(_ clockBehindClaims: ClockBehindClaims?) { behind.withLock { $0 = clockBehindClaims } }

    package var count: Int { claims.withLock { $0.count } }

    package func retryIfImpaired() {}
    package var health: StoreHealth { failure.withLock { $0 }.map { .failed($0) } ?? .ready }
    package var clockBehindClaims: ClockBehindClaims? { behind.withLock { $0 } }

    package func claim(_ claim: TokenClaim) async throws -> ClaimOutcome {
        if let error = failure.withLock({ $0 }) { throw error }
        return try claims.withLock { claims in
            if let earlier = claims[claim.transactionId], earlier.isRepeated(by: claim) {
                return .repeated(claimedAt: earlier.at)
            }
            if let request = claim.requestIdentity,
                claims.values.contains(where: {
                    $0.requestIdentity?.idempotencyKeyDigest == request.idempotencyKeyDigest
                        && $0.caller == claim.caller
                })
            {
                throw MerchantError(.idempotencyKeyReused, "the key came with another request")
            }
            guard claims[claim.transactionId] == nil else {
                throw MerchantError(.tokenAlreadyClaimed, "the payment was claimed")
            }
            claims[claim.transactionId] = claim
            return .claimed
        }
    }

    package func claim(of transactionId: Bits256) async throws -> TokenClaim? {
        claims.withLock { $0[transactionId] }
    }
}

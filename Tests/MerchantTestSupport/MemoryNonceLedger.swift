package import MerchantCore
import Synchronization
package import Vocabulary

/// A ledger of nonces in memory, which removes no claims. It refuses every claim while a failure is set.
package final class MemoryNonceLedger: NonceLedger {
    private let claims = Mutex<[Bits256: NonceClaim]>([:])
    private let failure = Mutex<MerchantError?>(nil)

    package init() {}

    package func fail(_ error: MerchantError?) { failure.withLock { $0 = error } }

    package var count: Int { claims.withLock { $0.count } }

    package func claimNonce(_ claim: NonceClaim) async throws {
        if let error = failure.withLock({ $0 }) { throw error }
        try claims.withLock { claims in
            if let earlier = claims[claim.digest] { throw MerchantError.nonceAlreadyClaimed(at: earlier.at) }
            claims[claim.digest] = claim
        }
    }

    package func nonceClaim(_ digest: Bits256) async throws -> NonceClaim? { claims.withLock { $0[digest] } }
}

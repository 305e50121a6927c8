package import MerchantCore
package import Vocabulary

/// The results of a group of claims: what the callers get after the commit, and the times of the new claims.
package struct ClaimGroup {
    package private(set) var tokenTimes: [Timestamp] = []
    package private(set) var nonceTimes: [Timestamp] = []
    private var results: [@Sendable () -> Void] = []

    package init() {}

    /// Inserts a claim with one of the two functions, and keeps its result for the caller.
    ///
    /// - Parameters:
    ///   - insertToken: returns the outcome, or the error with which the claim is refused.
    ///   - insertNonce: returns the earlier claim of the same nonce; nil if the nonce is claimed now.
    package mutating func add(
        _ pending: PendingClaim, insertToken: (TokenClaim) throws -> Result<ClaimOutcome, MerchantError>,
        insertNonce: (NonceClaim) throws -> NonceClaim?
    ) rethrows {
        switch pending {
        case .token(let pending):
            let outcome = try insertToken(pending.claim)
            if outcome == .success(.claimed) { tokenTimes.append(pending.claim.at) }
            results.append { pending.returnOutcome(outcome) }
        case .nonce(let pending):
            let earlier = try insertNonce(pending.claim)
            if earlier == nil { nonceTimes.append(pending.claim.at) }
            results.append { pending.returnEarlierClaim(earlier) }
        }
    }

    /// Returns the results to the callers. Call this function when the claims are on stable storage.
    package var returnResults: @Sendable () -> Void { { [results] in for returnResult in results { returnResult() } } }
}

package import Vocabulary

/// The record that a payment token was decrypted: by which user, when, and for which request. Contains no payment data.
package struct TokenClaim: Hashable, Sendable {
    /// Identifies a request, so that its repeats are recognized. Both values are SHA-256.
    package struct RequestIdentity: Hashable, Sendable {
        /// The digest of the `Idempotency-Key`.
        package let idempotencyKeyDigest: Bits256
        /// The digest of the request that had this `Idempotency-Key`.
        package let requestDigest: Bits256

        package init(idempotencyKeyDigest: Bits256, requestDigest: Bits256) {
            self.idempotencyKeyDigest = idempotencyKeyDigest
            self.requestDigest = requestDigest
        }
    }

    /// Apple's identifier of the claimed payment, unique over all merchants. A payment has one claim, whichever key its
    /// token was encrypted to. Apple's signature covers the identifier, so only a caller that has the token can claim
    /// the payment.
    package let transactionId: Bits256
    package let caller: String
    package let at: Timestamp
    /// nil if the request had no `Idempotency-Key`. A repeat of such a request is refused.
    package let requestIdentity: RequestIdentity?

    package init(transactionId: Bits256, caller: String, at: Timestamp, requestIdentity: RequestIdentity?) {
        self.transactionId = transactionId
        self.caller = caller
        self.at = at
        self.requestIdentity = requestIdentity
    }

    /// Whether `other` is the same request of the same caller, sent again.
    package func isRepeated(by other: TokenClaim) -> Bool {
        requestIdentity != nil && requestIdentity == other.requestIdentity && caller == other.caller
            && transactionId == other.transactionId
    }
}

/// The outcome of a claim that was not refused.
package enum ClaimOutcome: Hashable, Sendable {
    /// The token was not claimed before; now it is.
    case claimed
    /// The same request has claimed the token before, and was sent again.
    case repeated(claimedAt: Timestamp)
}

/// The record of the payment tokens that were used (claimed), so that no token is used twice. If several different
/// requests claim the same token, even at the same time, exactly one of them succeeds.
///
/// A claim is kept for at least an hour. A token is accepted from 5 minutes before to 5 minutes after its signing time,
/// so the token has expired before its claim is removed.
package protocol ClaimLedger: Sendable {
    /// Claims a token. Returns once the claim is on stable storage.
    ///
    /// - Throws: `tokenAlreadyClaimed`; `idempotencyKeyReused` if the caller used the Idempotency-Key for another
    ///   request; `tokenNotVerified` if ``clockBehindClaims`` is not nil; `overloaded`; `storeUnavailable`. After a
    ///   failure of the storage, the claim may or may not survive a restart. A repeat of the same request shows whether
    ///   the claim survived.
    func claim(_ claim: TokenClaim) async throws -> ClaimOutcome
    /// The claim of a payment; nil if there is none.
    func claim(of transactionId: Bits256) async throws -> TokenClaim?
    /// Whether the ledger can store claims. Does not wait.
    var health: StoreHealth { get }
    /// If ``health`` is impaired, begins a trial write. If the write succeeds, ``health`` is ready again. Does not
    /// wait.
    func retryIfImpaired()
    /// Why and until when the ledger refuses every new claim although it can store claims; nil if it accepts claims.
    /// Does not wait.
    var clockBehindClaims: ClockBehindClaims? { get }
}

/// Whether a store accepts writes.
package enum StoreHealth: Hashable, Sendable {
    case ready
    /// Writes have failed since the time `since`. The next write may succeed. Reads continue.
    case impaired(MerchantError, since: Timestamp)
    /// Writes fail until the daemon is restarted. Reads continue.
    case failed(MerchantError)
}

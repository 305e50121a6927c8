package import Vocabulary

/// The record that a payment token was decrypted: by which user, when, and in which attempt. Contains no payment data.
package struct TokenClaim: Hashable, Sendable {
    /// Identifies a request, so that its repeats are recognized. Both values are SHA-256.
    package struct Attempt: Hashable, Sendable {
        /// The digest of the `Idempotency-Key`.
        package let keyDigest: Words256
        /// The digest of the request that had this `Idempotency-Key`.
        package let requestDigest: Words256

        package init(keyDigest: Words256, requestDigest: Words256) {
            self.keyDigest = keyDigest
            self.requestDigest = requestDigest
        }
    }

    /// Apple's identifier of the claimed payment. Apple signs it, and it is unique over all merchants. So a payment has
    /// one claim, whichever key its token was encrypted to, and no caller can claim another payment with it.
    package let transactionId: Words256
    package let callerUID: UInt32
    package let at: Timestamp
    /// nil if the request had no `Idempotency-Key`. A repeat of such a request is refused.
    package let attempt: Attempt?

    package init(transactionId: Words256, callerUID: UInt32, at: Timestamp, attempt: Attempt?) {
        self.transactionId = transactionId
        self.callerUID = callerUID
        self.at = at
        self.attempt = attempt
    }

    /// Whether `other` is the same request of the same caller, sent again.
    package func isRepeated(by other: TokenClaim) -> Bool {
        attempt != nil && attempt == other.attempt && callerUID == other.callerUID
            && transactionId == other.transactionId
    }
}

/// The outcome of a claim that was not refused.
package enum ClaimOutcome: Hashable, Sendable {
    case won
    /// An earlier attempt of the same request has claimed the token.
    case repeated(wonAt: Timestamp)
}

/// The claimed payment tokens. If several requests claim the same token, even at the same time, exactly one of them
/// wins.
///
/// A claim is kept for at least an hour. A token is accepted from 5 minutes before to 5 minutes after its signing time,
/// so it has expired before its claim is removed.
package protocol ClaimLedger: Sendable {
    /// Claims a token. Returns once the claim is on stable storage.
    ///
    /// - Throws: `tokenAlreadyClaimed`; `idempotencyKeyReused` if the caller used the key for another request;
    ///   `overloaded`; `storeUnavailable`. After a failure of the storage, the claim may or may not survive a restart.
    ///   Repeating the same attempt shows whether it did.
    func claim(_ claim: TokenClaim) async throws -> ClaimOutcome
    /// The claim of a payment; nil if there is none.
    func claim(of transactionId: Words256) async throws -> TokenClaim?
    /// Whether the ledger accepts claims. Does not wait.
    var health: StoreHealth { get }
}

/// Whether a store accepts writes.
package enum StoreHealth: Hashable, Sendable {
    case ready
    /// Writes have failed since that time. The next write may succeed. Reads continue.
    case impaired(MerchantError, since: Timestamp)
    /// Writes fail until the daemon is restarted. Reads continue.
    case failed(MerchantError)
}

package import Vocabulary

/// A payment token taken: by whom, when, and by which attempt. Holds nothing of what the token says.
package struct TokenClaim: Hashable, Sendable {
    /// What a repeat of a request is known by. Both are SHA-256 values.
    package struct Attempt: Hashable, Sendable {
        /// Of the `Idempotency-Key`.
        package let keyDigest: Words256
        /// Of the request that it came with.
        package let requestDigest: Words256

        package init(keyDigest: Words256, requestDigest: Words256) {
            self.keyDigest = keyDigest
            self.requestDigest = requestDigest
        }
    }

    /// Apple's name of the payment, and all that a claim is about: it is unique over all merchants and signed, so no caller
    /// can make a token of another payment's, and one payment is one claim, whichever key its token was encrypted to.
    package let transactionId: Words256
    package let callerUID: UInt32
    package let at: Timestamp
    /// nil where the request had no `Idempotency-Key`: it cannot be repeated.
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

/// How a claim ended that was not refused.
package enum ClaimOutcome: Hashable, Sendable {
    case won
    /// An earlier attempt of the same request had won.
    case repeated(wonAt: Timestamp)
}

/// The claimed payment tokens. A token is claimed once, however many requests claim it at the same time.
///
/// A claim is kept for at least ``retention``. A token is acceptable for twice the verifier's time window, so none can
/// come back after its claim was forgotten.
package protocol ClaimLedger: Sendable {
    /// Takes a token. Returns once the claim is on stable storage.
    ///
    /// - Throws: `tokenAlreadyClaimed`; `idempotencyKeyReused` where the caller's key came with another request;
    ///   `overloaded`; `storeUnavailable`, if the storage itself failed, the claim may or may not survive a
    ///   restart; a repetition of the same attempt shows which.
    func claim(_ claim: TokenClaim) async throws -> ClaimOutcome
    /// The claim of a payment, as long as it is kept.
    func claim(of transactionId: Words256) async throws -> TokenClaim?
    /// Whether claims are taken. Does not wait.
    var health: StoreHealth { get }
}

/// Whether a store takes writes.
package enum StoreHealth: Hashable, Sendable {
    case ready
    /// Writes have failed since that time; the next may succeed. Reads continue.
    case impaired(MerchantError, since: Timestamp)
    /// No writes until the daemon is restarted; reads continue.
    case failed(MerchantError)
}

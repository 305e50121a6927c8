package import Vocabulary

/// How long claims of payment tokens and nonces are kept, and how far the clock may be behind them. The rules are the
/// same for each database.
package enum ClaimRules {
    /// The claim of a token is kept for at least this time: one hour. To refuse replays, ten minutes would suffice,
    /// because the verifier accepts a token only from five minutes before its signing time to five minutes after it.
    /// With one hour, a client can also repeat a request after an outage.
    package static let retention = Duration.seconds(3600)
    /// The claim of a nonce is kept until a claim of another nonce is at least this much later: 30 days. Apple accepts
    /// a nonce for minutes. The margin is for a machine whose clock was wrong.
    package static let nonceRetention = Duration.seconds(30 * 86_400)
    /// If the machine's clock is behind the newest claim by this time or more, the clock was set back. The verifier may
    /// then accept old tokens whose claims were removed, so the store refuses new claims. The store cannot tell whether
    /// the clock is behind now or was ahead before.
    ///
    /// A claim is at most five minutes before or after the signing time of its token. So the claim of a token that
    /// Apple signs now is at most ten minutes before the newest claim, even if the clock is wrong. With a tolerance
    /// above ten minutes, the store never refuses such a claim.
    ///
    /// A claim is removed when it is an hour (``retention``) older than a new claim. The removed claim's token is valid
    /// for at most ten minutes after that claim. So the verifier accepts this token again only if the clock is at least
    /// 50 minutes behind the new claim. This time exceeds the tolerance, so the store refuses the token.
    package static let toleratedSetBack = Duration.seconds(1800)
    /// How many expired claims are removed at most for each new claim. The number is above one, so that the table can
    /// shrink, and low, so that commits stay short.
    package static let maximumRemovedPerClaim = 2

    /// Which expired claims must be removed when new claims are stored: among the `amongOldest` oldest claims, those
    /// before the time `before`. nil if no new claim is stored.
    ///
    /// A claim expires when it is older than the new claims by its retention. The present time of the machine's clock
    /// is not used, because a clock that is ahead would remove claims too early. The time of a new claim of a token is
    /// right within minutes, because the verifier has compared this time with the signing time of the token. While the
    /// clock is ahead, the verifier accepts no token, so there are no new claims, and no claim is removed.
    package static func expired(
        after retention: Duration, whenStoring newClaimTimes: [Timestamp]
    ) -> (before: Timestamp, amongOldest: Int)? {
        newClaimTimes.min().map {
            ($0.adding(.zero - retention), amongOldest: newClaimTimes.count * maximumRemovedPerClaim)
        }
    }
}

extension ClaimRules {
    /// The result of a claim that was not inserted, because it conflicts with an earlier claim of the same payment, or
    /// with an earlier request that used the same Idempotency-Key.
    ///
    /// - Parameters:
    ///   - earlier: the earlier claim of the same payment; nil if the conflict is with an earlier request that used the
    ///     same Idempotency-Key.
    ///   - isKeyUsed: whether a claim of the caller has the digest of this Idempotency-Key.
    package static func result(
        of claim: TokenClaim, conflictingWith earlier: TokenClaim?, isKeyUsed: (_ digest: Bits256) throws -> Bool
    ) rethrows -> Result<ClaimOutcome, MerchantError> {
        guard let earlier else { return .failure(.idempotencyKeyReused) }
        if earlier.isRepeated(by: claim) { return .success(.repeated(claimedAt: earlier.at)) }
        if let request = claim.requestIdentity, try isKeyUsed(request.idempotencyKeyDigest) {
            return .failure(.idempotencyKeyReused)
        }
        return .failure(
            MerchantError(
                .tokenAlreadyClaimed,
                "the payment was already claimed at \(earlier.at): each payment can be claimed only once"))
    }

    /// The error for a new claim at the time `now`, which is not after `limit`: the time of the newest claim minus
    /// ``toleratedSetBack``.
    package static func clockBehind(_ limit: Timestamp, at now: Timestamp) -> MerchantError {
        // The message begins with the name of the failed check, as in every `tokenNotVerified` error.
        MerchantError(
            .tokenNotVerified,
            "signingTime: the machine's clock shows \(now), but another payment was claimed at \(limit.adding(toleratedSetBack)). Either this clock is behind, or the clock was ahead when that payment was claimed. Until this clock has passed \(limit), the daemon cannot tell whether this payment was claimed before, and refuses it. If the clock is wrong, correct it; if it is right, 'merchantkeyctl status' says what to do (claimsRefused)"
        )
    }
}

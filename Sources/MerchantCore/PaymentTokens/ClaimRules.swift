/// How long claims of payment tokens and nonces are kept, and how far the clock may be behind them. The rules are the
/// same for each database.
package enum ClaimRules {
    /// The claim of a token is kept for at least this time: one hour. To refuse replays, ten minutes would suffice,
    /// because the verifier accepts a token only from five minutes before its signing time to five minutes after it.
    /// With one hour, a client can also repeat a request after an outage.
    package static let retention = Duration.seconds(3600)
    /// The claim of a nonce is kept for at least this time, counted until a later claim of a nonce: 30 days. Apple
    /// accepts a nonce for minutes. The margin is for a machine whose clock was wrong.
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
}

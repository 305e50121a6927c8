package import Vocabulary

/// The machine's clock is so far behind the newest claim that the ledger refuses every new claim. Either the clock is
/// behind now, or it was ahead when the newest claim was made.
package struct ClockBehindClaims: Hashable, Sendable {
    /// The time of the newest claim.
    package let newestClaim: Timestamp
    /// When the daemon noticed this.
    package let since: Timestamp
    /// The ledger accepts new claims again when the machine's clock has passed this time.
    package let until: Timestamp
    /// How the operator removes the claims, if the clock is right. A part of a sentence in the imperative.
    package let removal: String

    package init(newestClaim: Timestamp, since: Timestamp, until: Timestamp, removal: String) {
        self.newestClaim = newestClaim
        self.since = since
        self.until = until
        self.removal = removal
    }
}

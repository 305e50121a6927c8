package import MerchantCore
import Vocabulary

extension ClockBehindClaims {
    /// The text of the finding `claimsRefused`, and of the reason for which the daemon is not ready.
    package var detail: String {
        "since \(since) the daemon refuses every payment token that was not claimed before, until the machine's clock has passed \(until): a token was claimed at \(newestClaim), so the clock is behind now or was ahead then. If the clock is wrong, correct it. If the clock is right, \(removal); a token that was claimed in the last ten minutes could then be claimed again"
    }
}

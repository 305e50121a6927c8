import MerchantCore
package import MetricsKit
import PaymentToken

/// Counts the tokens that decryptors sent for decryption: the opened tokens, the failed checks of refused tokens, and
/// the outcomes of claims.
package final class TokenMetrics: MetricsSource {
    /// Why a token was refused. The first seven are the checks of the verification, under the same names.
    package enum Check: String, CaseIterable, Sendable {
        case structure, messageDigest, signature, markers, certificateChain, environment, signingTime
        case merchantIdentifier, currencyCode, transactionAmount, applicationData
        /// The token has another algorithm than the key.
        case algorithm
        case decryption
        /// The plaintext cannot be parsed.
        case plaintext
        /// The token was used before.
        case replay
    }

    /// The outcome of a claim. A claim records that a token was used; only one request can claim a token.
    package enum ClaimResult: String, CaseIterable, Sendable {
        case claimed
        /// The same request was sent again.
        case repeated
        /// Another request had claimed the token.
        case alreadyClaimed
        /// The claim was refused for another reason, such as a failing disk.
        case failed
    }

    private let opened = AtomicCounts(count: 1)
    private let refusals = LabeledCounter<Check>()
    private let claims = LabeledCounter<ClaimResult>()
    private let claimDurations = DurationHistogram(bounds: DurationHistogram.storageBounds)

    package init() {}

    func countOpened() { opened.add(at: 0) }

    func countRefusal(_ check: Check) { refusals.add(check) }

    /// Counts the checks that failed, not the checks that were skipped because another check failed.
    func countRefusal(_ verification: TokenVerification) {
        for check in verification.checks where check.outcome == .failed {
            if let label = Check(rawValue: check.name.rawValue) { refusals.add(label) }
        }
    }

    func countClaim(_ result: ClaimResult, after duration: Duration) {
        claims.add(result)
        claimDurations.record(duration)
        if result == .alreadyClaimed { refusals.add(.replay) }
    }

    package func append(to page: inout MetricsText) {
        page.append(
            "merchantkeyd_tokens_decrypted_total", .counter, "Payment tokens that were decrypted for a decryptor.",
            [MetricsText.Sample([], opened[0])])
        page.append(
            "merchantkeyd_token_refusals_total", .counter,
            "Failed checks of payment tokens that decryptors sent for decryption. One token can fail several checks.",
            refusals.samples("check"))
        page.append(
            "merchantkeyd_token_claims_total", .counter,
            "Claims of payment tokens. A claim records that a token was used, so that it is accepted only once.",
            claims.samples("result"))
        page.append(
            "merchantkeyd_token_claim_duration_seconds", .histogram,
            "Time from the beginning of a claim to its outcome, including the time in the queue.",
            MetricsText.samples(claimDurations.snapshot))
    }
}

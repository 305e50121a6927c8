import MerchantCore
package import PaymentToken
import Synchronization
package import Vocabulary

/// Notices a clock that is plainly wrong: most of the latest tokens were genuine in everything but their signing time.
///
/// A token counts once, however often it is sent, and only if all else about its signature holds, so that junk can raise no
/// alarm. It forgets nothing by time: tokens of a clock put right push out the others.
package final class ClockWatch: Sendable {
    /// How many tokens it remembers, and how many it needs to say anything.
    static let remembered = 20
    static let needed = 10

    private struct Sighting {
        let transactionId: TransactionId
        /// Signing time less time of receipt, in seconds.
        let offset: Int
        let isRefused: Bool
    }

    /// Oldest first.
    private let sightings = Mutex<[Sighting]>([])

    /// Takes note of a token that was judged by this clock.
    func note(_ verification: TokenVerification, of token: ApplePayToken, at now: Timestamp) {
        let genuine = verification.checks.allSatisfy { $0.name == .signingTime || $0.outcome == .passed }
        guard genuine, let signedAt = verification.signingTime.map({ Timestamp($0) }) else { return }
        let sighting = Sighting(
            transactionId: token.transactionId,
            offset: Int((signedAt.millisecondsSince1970 - now.millisecondsSince1970) / 1000),
            isRefused: verification[.signingTime].outcome == .failed)
        sightings.withLock { sightings in
            guard !sightings.contains(where: { $0.transactionId == sighting.transactionId }) else { return }
            if sightings.count == Self.remembered { sightings.removeFirst() }
            sightings.append(sighting)
        }
    }

    /// What health and status say; nil while there is nothing to say.
    package var warning: String? {
        let latest = sightings.withLock { $0 }
        let refused = latest.filter(\.isRefused)
        guard latest.count >= Self.needed, refused.count * 2 > latest.count else { return nil }
        let offset = refused.map(\.offset).sorted()[refused.count / 2]
        return
            "\(refused.count) of the latest \(latest.count) genuine payment tokens were refused for their signing time "
            + "alone, most of them signed \(abs(offset)) s \(offset < 0 ? "before" : "after") this machine's time: "
            + "is its clock right?"
    }
}

extension MerchantOperations {
    /// Judges a token's signature, chain, environment and time.
    ///
    /// - Parameter receivedAt: nil for now; only then the token tells something about the clock.
    package func verify(_ token: ApplePayToken, receivedAt: Timestamp?) -> TokenVerification {
        if let receivedAt { return verifier.verify(token, receivedAt: receivedAt) }
        let now = clock.now
        let verification = verifier.verify(token, receivedAt: now)
        clockWatch.note(verification, of: token, at: now)
        return verification
    }
}

package import PaymentToken
import Synchronization
package import Vocabulary

/// Notices a clock that is plainly wrong: most genuine tokens of late were refused for their time alone.
///
/// A token is genuine where everything but its time held. One old token sent again and again counts once, so that nobody
/// raises a false alarm with a token of his own. Remembers the last ``capacity`` tokens, no longer than ``window``.
package final class TokenTimeWatch: Sendable {
    package static let capacity = 256
    package static let window = Duration.seconds(600)
    /// How many tokens it takes to say anything.
    package static let fewest = 20

    private struct Sighting {
        let transactionId: TransactionId
        let receivedAt: Timestamp
        /// Signing time minus time of receipt, in milliseconds: below zero for a clock that is ahead.
        let offset: Int64
        let isRefused: Bool
    }

    /// A ring: the oldest makes room.
    private struct Ring {
        var sightings: [Sighting] = []
        var oldest = 0
    }

    private let ring = Mutex(Ring())

    package init() {}

    package func record(
        _ transactionId: TransactionId, _ verification: TokenVerification, receivedAt: Timestamp
    ) {
        let isRefused = !verification.isVerified
        guard !isRefused || verification.failsInTimeAlone, let signedAt = verification.signingTime else { return }
        record(transactionId, signedAt: Timestamp(signedAt), receivedAt: receivedAt, isRefused: isRefused)
    }

    package func record(
        _ transactionId: TransactionId, signedAt: Timestamp, receivedAt: Timestamp, isRefused: Bool
    ) {
        let sighting = Sighting(
            transactionId: transactionId, receivedAt: receivedAt,
            offset: signedAt.millisecondsSince1970 - receivedAt.millisecondsSince1970, isRefused: isRefused)
        ring.withLock { ring in
            if isRefused, ring.sightings.contains(where: { $0.transactionId == transactionId }) { return }
            if ring.sightings.count < Self.capacity {
                ring.sightings.append(sighting)
            } else {
                ring.sightings[ring.oldest] = sighting
                ring.oldest = (ring.oldest + 1) % Self.capacity
            }
        }
    }

    /// What stands out at a moment.
    package struct Anomaly: Hashable, Sendable {
        package let refused: Int
        package let genuine: Int
        /// Of the refused: signing time minus time of receipt.
        package let medianOffset: Duration
    }

    /// - Returns: nil while there are too few tokens, or no majority of them is refused.
    package func anomaly(at now: Timestamp) -> Anomaly? {
        let range = now.adding(.zero - Self.window)...now.adding(Self.window)
        let recent = ring.withLock { $0.sightings.filter { range.contains($0.receivedAt) } }
        let refused = recent.filter(\.isRefused).map(\.offset).sorted()
        guard recent.count >= Self.fewest, refused.count * 2 > recent.count else { return nil }
        return Anomaly(
            refused: refused.count, genuine: recent.count, medianOffset: .milliseconds(refused[refused.count / 2]))
    }
}

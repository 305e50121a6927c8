package import Vocabulary

/// The settings `roll.…`.
package struct RollPolicy: Hashable, Sendable {
    /// How long before the current certificate's end its successor is prepared.
    package var renewBefore = Duration.seconds(60 * 86_400)
    /// Merchants' preparations spread over so long before that, so that not all roll in one night.
    package var jitter = Duration.seconds(14 * 86_400)
    /// How long the old key must not have been requested before a roll is quiet.
    package var quietPeriod = Duration.seconds(7 * 86_400)
    /// The time between two reminders of a waiting roll.
    package var remindEvery = Duration.seconds(7 * 86_400)
    /// Whether a successful decryption with a roll's new key promotes it.
    package var promotesOnProof = true
    /// Whether the daemon itself finishes a quiet roll, which revokes its old key.
    package var finishesWhenQuiet = false

    package init() {}

    /// When the successor of a certificate that ends then is prepared: always the same time for the same merchant.
    package func renewal(of ends: Timestamp, merchant: MerchantIdentifier) -> Timestamp {
        let spread = max(1, jitter.milliseconds)
        let number = MerchantIdentifierHash(of: merchant).bytes.prefix(7).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return ends.adding(.zero - renewBefore).adding(.milliseconds(-(number % spread)))
    }
}

extension Duration {
    package var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

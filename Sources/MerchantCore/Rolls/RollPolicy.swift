package import Vocabulary

/// The settings `roll.…`. A roll is the replacement of a merchant's key pair.
package struct RollPolicy: Hashable, Sendable {
    /// How long before the expiry of the current certificate the daemon prepares its successor.
    package var renewBefore = Duration.seconds(60 * 86_400)
    /// The daemon prepares each merchant's successor up to this much earlier. How much earlier differs from merchant to
    /// merchant, so that the work is spread over time.
    package var jitter = Duration.seconds(14 * 86_400)
    /// A roll is quiet when no decryptor has requested the old key for this time.
    package var quietPeriod = Duration.seconds(7 * 86_400)
    /// The time between two reminders of a waiting roll.
    package var remindEvery = Duration.seconds(7 * 86_400)
    /// Whether a successful decryption with a roll's new key promotes that key.
    package var promotesOnFirstDecryption = true
    /// Whether the daemon itself finishes a quiet roll, which revokes its old key.
    package var finishesWhenQuiet = false

    package init() {}

    /// When the daemon prepares the successor of a certificate that expires at `expiry`. The part of ``jitter``
    /// that applies is computed from the merchant's identifier, so it is always the same for a merchant.
    package func renewal(of expiry: Timestamp, merchant: MerchantIdentifier) -> Timestamp {
        let spread = max(1, jitter.milliseconds)
        let number = MerchantIdentifierHash(of: merchant).bytes.prefix(7).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return expiry.adding(.zero - renewBefore).adding(.milliseconds(-(number % spread)))
    }
}

extension Duration {
    package var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

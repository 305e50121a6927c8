package import Vocabulary

/// The settings `roll.…`.
package struct RollPolicy: Hashable, Sendable {
    /// How long before the expiry of the current certificate the daemon prepares its successor.
    package var renewBefore = Duration.seconds(60 * 86_400)
    /// The daemon prepares successors earlier by up to this time. The time differs from merchant to merchant, so that
    /// the work is spread.
    package var jitter = Duration.seconds(14 * 86_400)
    /// A roll is quiet when nobody has requested the old key for this time.
    package var quietPeriod = Duration.seconds(7 * 86_400)
    /// The time between two reminders of a waiting roll.
    package var remindEvery = Duration.seconds(7 * 86_400)
    /// Whether a successful decryption with a roll's new key promotes it.
    package var promotesOnFirstDecryption = true
    /// Whether the daemon itself finishes a quiet roll, which revokes its old key.
    package var finishesWhenQuiet = false

    package init() {}

    /// When the daemon prepares the successor of a certificate that expires at `ends`. It is always the same for one
    /// merchant.
    package func renewal(of ends: Timestamp, merchant: MerchantIdentifier) -> Timestamp {
        let spread = max(1, jitter.milliseconds)
        let number = MerchantIdentifierHash(of: merchant).bytes.prefix(7).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return ends.adding(.zero - renewBefore).adding(.milliseconds(-(number % spread)))
    }
}

extension Duration {
    package var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

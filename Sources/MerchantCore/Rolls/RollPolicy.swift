package import Vocabulary

/// The settings `roll.…`. A roll is the replacement of a merchant's key pair.
package struct RollPolicy: Hashable, Sendable {
    /// The time from the preparation of a new key pair to the expiry of the current certificate, without ``jitter``.
    package var renewBefore = Duration.seconds(60 * 86_400)
    /// The longest time that is added to ``renewBefore``. Each merchant has a different part of it, so that the daemon
    /// does not prepare the new key pairs of all merchants at the same time.
    package var jitter = Duration.seconds(14 * 86_400)
    /// A roll is quiet if no decryptor has requested the old key for this time, and if the daemon has decrypted a token
    /// with the new key since its promotion.
    package var quietPeriod = Duration.seconds(7 * 86_400)
    /// The time between two reminders of a waiting roll.
    package var remindEvery = Duration.seconds(7 * 86_400)
    /// Whether a successful decryption promotes the key: a roll's new key if the current key's certificate is older, or
    /// a standby key outside of a roll. For the latter, see ``StandbyKeyUse``.
    package var promotesOnFirstDecryption = true
    /// Whether the daemon itself finishes a quiet roll, which revokes its old key.
    package var finishesWhenQuiet = false

    package init() {}

    /// The time at which the daemon prepares a new key pair if the current certificate expires at `expiry`. The
    /// merchant's part of ``jitter`` is computed from the merchant identifier, so it is always the same.
    package func renewal(of expiry: Timestamp, merchant: MerchantIdentifier) -> Timestamp {
        let spread = max(1, jitter.milliseconds)
        let number = MerchantIdentifierHash(of: merchant).bytes.prefix(7).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return expiry.adding(.zero - renewBefore).adding(.milliseconds(-(number % spread)))
    }
}

extension Duration {
    package var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

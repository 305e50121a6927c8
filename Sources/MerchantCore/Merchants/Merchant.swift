package import Vocabulary

/// An owner of key pairs: a business on the platform, or the platform itself under its integrator identifier.
package struct Merchant: Hashable, Sendable {
    /// The longest name in UTF-8 bytes. Apple has the same limit for `partnerMerchantName`.
    package static let longestName = 1024
    /// How many active key pairs a merchant should have by default: the current one and its successor.
    package static let defaultTargetActiveKeyPairs = 2
    /// 0 is for a merchant without payment processing keys, such as a platform that has only an identity key.
    package static let targetActiveKeyPairsRange = 0...16

    package let identifier: MerchantIdentifier
    package var name: String?
    package var targetActiveKeyPairs: Int
    package let createdAt: Timestamp
    /// When the merchant was removed; nil if it was not. The identifier of a removed merchant cannot be used again, and
    /// the merchant's history is kept.
    package var removedAt: Timestamp?

    package init(
        identifier: MerchantIdentifier, name: String?, targetActiveKeyPairs: Int = defaultTargetActiveKeyPairs,
        createdAt: Timestamp, removedAt: Timestamp? = nil
    ) {
        self.identifier = identifier
        self.name = name
        self.targetActiveKeyPairs = targetActiveKeyPairs
        self.createdAt = createdAt
        self.removedAt = removedAt
    }
}

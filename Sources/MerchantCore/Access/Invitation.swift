package import Vocabulary

/// Lets a person at a merchant begin one session at the portal. The person receives a link that contains the secret.
package struct Invitation: Hashable, Sendable {
    /// The longest note, in bytes of UTF-8.
    package static let longestNote = 256

    package let identifier: InvitationIdentifier
    package let merchantIdentifier: MerchantIdentifier
    package let secret: StoredSecret
    /// For whom the invitation is: a ``DisplayText`` of at most ``longestNote`` bytes.
    package let note: String?
    /// The name of the caller who created the invitation: ``Caller/name``.
    package let createdBy: String
    package let createdAt: Timestamp
    /// From this time on, the invitation begins no session.
    package let expiresAt: Timestamp
    /// When the invitation began its only session.
    package var usedAt: Timestamp?
    /// A revoked invitation stays revoked.
    package var revokedAt: Timestamp?

    package init(
        identifier: InvitationIdentifier, merchantIdentifier: MerchantIdentifier, secret: StoredSecret, note: String?,
        createdBy: String, createdAt: Timestamp, expiresAt: Timestamp, usedAt: Timestamp? = nil,
        revokedAt: Timestamp? = nil
    ) {
        self.identifier = identifier
        self.merchantIdentifier = merchantIdentifier
        self.secret = secret
        self.note = note
        self.createdBy = createdBy
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.usedAt = usedAt
        self.revokedAt = revokedAt
    }
}

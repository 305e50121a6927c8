package import MerchantCore
import Vocabulary

/// Converts an invitation to and from its row in `invitations`.
package enum InvitationRow {
    package static let columns = """
        identifier, merchant_identifier, secret_identifier, secret_digest, note, created_by, created_at, expires_at,
        used_at, revoked_at
        """

    package static func invitation(_ row: some StoredRow) throws -> Invitation {
        Invitation(
            identifier: try row.invitationIdentifier("identifier"), merchantIdentifier: try row.merchantIdentifier(),
            secret: try row.storedSecret(), note: try row.textIfAny("note"), createdBy: try row.text("created_by"),
            createdAt: try row.timestamp("created_at"), expiresAt: try row.timestamp("expires_at"),
            usedAt: try row.timestampIfAny("used_at"), revokedAt: try row.timestampIfAny("revoked_at"))
    }

    /// The values of ``columns``.
    package static func values(_ invitation: Invitation) -> Arguments {
        [
            invitation.identifier.rawValue, invitation.merchantIdentifier.rawValue, invitation.secret.identifier,
            invitation.secret.digest.bytes, invitation.note, invitation.createdBy, invitation.createdAt,
            invitation.expiresAt, invitation.usedAt, invitation.revokedAt,
        ]
    }
}

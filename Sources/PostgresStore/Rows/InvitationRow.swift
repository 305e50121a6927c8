import MerchantCore
import Vocabulary

/// Converts an invitation to and from its row in `invitations`.
enum InvitationRow {
    static let columns =
        "identifier, merchant_identifier, secret_identifier, secret_digest, note, created_by, created_at, expires_at, used_at, revoked_at"

    static func invitation(_ row: Row) throws -> Invitation {
        Invitation(
            identifier: try row.invitationIdentifier("identifier"), merchantIdentifier: try row.merchantIdentifier(),
            secret: try row.storedSecret(), note: try row.textIfAny("note"), createdBy: try row.text("created_by"),
            createdAt: try row.timestamp("created_at"), expiresAt: try row.timestamp("expires_at"),
            usedAt: try row.timestampIfAny("used_at"), revokedAt: try row.timestampIfAny("revoked_at"))
    }

    static let insertion = "INSERT INTO invitations (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"

    static func values(_ invitation: Invitation) -> Arguments {
        [
            invitation.identifier.rawValue, invitation.merchantIdentifier.rawValue, invitation.secret.identifier,
            invitation.secret.digest.bytes, invitation.note, invitation.createdBy,
            invitation.createdAt.millisecondsSince1970, invitation.expiresAt.millisecondsSince1970,
            invitation.usedAt?.millisecondsSince1970, invitation.revokedAt?.millisecondsSince1970,
        ]
    }
}

extension Row {
    func invitationIdentifier(_ column: String) throws -> InvitationIdentifier {
        try value(InvitationIdentifier(text: try text(column)), of: column)
    }
}

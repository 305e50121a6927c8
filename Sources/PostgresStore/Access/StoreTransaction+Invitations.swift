import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ invitation: Invitation) throws {
        try requireMerchant(invitation.merchantIdentifier)
        try executeLater(
            """
            INSERT INTO invitations (\(InvitationRow.columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
            """, InvitationRow.values(invitation))
    }

    func update(_ invitation: Invitation) throws {
        let changed = try execute(
            "UPDATE invitations SET used_at = $1, revoked_at = $2 WHERE identifier = $3",
            [invitation.usedAt, invitation.revokedAt, invitation.identifier.rawValue])
        guard changed == 1 else { throw MerchantError.invitationNotFound(invitation.identifier) }
    }

    func revokeOpenInvitations(createdBy caller: String, at now: Timestamp) throws -> Int {
        try execute(
            """
            UPDATE invitations SET revoked_at = $1
            WHERE created_by = $2 AND expires_at > $3 AND used_at IS NULL AND revoked_at IS NULL
            """, [now, caller, now])
    }
}

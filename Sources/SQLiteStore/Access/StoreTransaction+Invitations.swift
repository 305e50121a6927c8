import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insert(_ invitation: Invitation) throws {
        try requireMerchant(invitation.merchantIdentifier)
        try execute(
            """
            INSERT INTO invitations (\(InvitationRow.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, InvitationRow.values(invitation))
    }

    func update(_ invitation: Invitation) throws {
        let changed = try execute(
            "UPDATE invitations SET used_at = ?, revoked_at = ? WHERE identifier = ?",
            [invitation.usedAt, invitation.revokedAt, invitation.identifier.rawValue])
        guard changed == 1 else { throw MerchantError.invitationNotFound(invitation.identifier) }
    }

    func revokeOpenInvitations(createdBy caller: String, at now: Timestamp) throws -> Int {
        try execute(
            """
            UPDATE invitations SET revoked_at = ?
            WHERE created_by = ? AND expires_at > ? AND used_at IS NULL AND revoked_at IS NULL
            """, [now, caller, now])
    }
}

import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insert(_ invitation: Invitation) throws {
        guard try merchant(invitation.merchantIdentifier) != nil else {
            throw MerchantError.merchantNotFound(invitation.merchantIdentifier)
        }
        try execute(InvitationRow.insertion, InvitationRow.values(invitation))
    }

    func update(_ invitation: Invitation) throws {
        let changed = try execute(
            "UPDATE invitations SET used_at = $1, revoked_at = $2 WHERE identifier = $3",
            [
                invitation.usedAt?.millisecondsSince1970, invitation.revokedAt?.millisecondsSince1970,
                invitation.identifier.rawValue,
            ])
        guard changed == 1 else {
            throw MerchantError(.invitationNotFound, "there is no invitation \(invitation.identifier)")
        }
    }

    func revokeOpenInvitations(createdBy caller: String, at now: Timestamp) throws -> Int {
        try execute(
            """
            UPDATE invitations SET revoked_at = $1
            WHERE created_by = $2 AND expires_at > $3 AND used_at IS NULL AND revoked_at IS NULL
            """, [now.millisecondsSince1970, caller, now.millisecondsSince1970])
    }
}

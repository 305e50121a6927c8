package import MerchantCore
import Vocabulary

/// Converts a session to and from its row in `portal_sessions`.
package enum PortalSessionRow {
    /// The columns of the session, and the identifier and the merchant of its invitation, if it has one.
    package static let columns = """
        portal_sessions.secret_identifier, portal_sessions.secret_digest, operator_uid, operator_groups,
        portal_sessions.created_at, last_seen_at, invitations.identifier AS invitation, merchant_identifier
        """

    package static func session(_ row: some StoredRow) throws -> PortalSession {
        PortalSession(
            secret: try row.storedSecret(), holder: try holder(row), createdAt: try row.timestamp("created_at"),
            lastSeenAt: try row.timestamp("last_seen_at"))
    }

    private static func holder(_ row: some StoredRow) throws -> PortalSession.Holder {
        guard let merchant = try row.merchantIdentifierIfAny() else {
            let user = try row.operatorUser()
            return .operating(uid: user.uid, groups: user.groups)
        }
        return .invitation(try row.invitationIdentifier("invitation"), merchant)
    }

    package static let insertedColumns =
        "secret_identifier, secret_digest, invitation_id, operator_uid, operator_groups, created_at, last_seen_at"

    /// The values of ``insertedColumns``.
    ///
    /// - Parameter invitation: the id of the invitation's row; nil for a session of an operator.
    package static func values(_ session: PortalSession, invitationRow invitation: Int64?) -> Arguments {
        var uid: UInt32?
        var groups: String?
        if case .operating(let operatorUID, let operatorGroups) = session.holder {
            uid = operatorUID
            groups = operatorGroups.groupsText
        }
        return [
            session.secret.identifier, session.secret.digest.bytes, invitation, uid, groups, session.createdAt,
            session.lastSeenAt,
        ]
    }
}

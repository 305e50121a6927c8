import MerchantCore
import Vocabulary

/// Converts a session to and from its row in `portal_sessions`.
enum PortalSessionRow {
    /// The columns of the session, and `invitation` and `merchant_identifier` of its row in `invitations`.
    static let columns = """
        portal_sessions.secret_identifier, portal_sessions.secret_digest, operator_uid, operator_groups,
        portal_sessions.created_at, last_seen_at, invitations.identifier AS invitation, merchant_identifier
        """

    static func session(_ row: Row) throws -> PortalSession {
        PortalSession(
            secret: try row.storedSecret(), holder: try holder(row), createdAt: try row.timestamp("created_at"),
            lastSeenAt: try row.timestamp("last_seen_at"))
    }

    private static func holder(_ row: Row) throws -> PortalSession.Holder {
        guard let merchant = try row.merchantIdentifierIfAny() else {
            let user = try row.operatorUser()
            return .operating(uid: user.uid, groups: user.groups)
        }
        return .invitation(try row.invitationIdentifier("invitation"), merchant)
    }

    static let insertion = """
        INSERT INTO portal_sessions (secret_identifier, secret_digest, invitation_id, operator_uid, operator_groups,
            created_at, last_seen_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        """

    /// The values that ``insertion`` needs.
    ///
    /// - Parameter invitation: the id of the invitation's row; nil for a session of an operator.
    static func values(_ session: PortalSession, invitationRow invitation: Int64?) -> Arguments {
        var uid: UInt32?
        var groups: String?
        if case .operating(let operatorUID, let operatorGroups) = session.holder {
            uid = operatorUID
            groups = operatorGroups.groupsText
        }
        return [
            session.secret.identifier, session.secret.digest.bytes, invitation, uid, groups,
            session.createdAt.millisecondsSince1970, session.lastSeenAt.millisecondsSince1970,
        ]
    }
}

/// Converts an operator's login to and from its row in `operator_logins`.
enum OperatorLoginRow {
    static let columns =
        "secret_identifier, secret_digest, operator_uid, operator_groups, created_at, expires_at, used_at"

    static func login(_ row: Row) throws -> OperatorLogin {
        let user = try row.operatorUser()
        return OperatorLogin(
            secret: try row.storedSecret(), uid: user.uid, groups: user.groups,
            createdAt: try row.timestamp("created_at"), expiresAt: try row.timestamp("expires_at"),
            usedAt: try row.timestampIfAny("used_at"))
    }

    static let insertion = "INSERT INTO operator_logins (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7)"

    static func values(_ login: OperatorLogin) -> Arguments {
        [
            login.secret.identifier, login.secret.digest.bytes, login.uid, login.groups.groupsText,
            login.createdAt.millisecondsSince1970, login.expiresAt.millisecondsSince1970,
            login.usedAt?.millisecondsSince1970,
        ]
    }
}

import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func portalSession(secretIdentifier: String) throws -> PortalSession? {
        try firstRow(
            """
            SELECT \(PortalSessionRow.columns)
            FROM portal_sessions LEFT JOIN invitations ON invitations.id = portal_sessions.invitation_id
            WHERE portal_sessions.secret_identifier = ?
            """, [secretIdentifier], PortalSessionRow.session)
    }

    func operatorLogin(secretIdentifier: String) throws -> OperatorLogin? {
        try firstRow(
            "SELECT \(OperatorLoginRow.columns) FROM operator_logins WHERE secret_identifier = ?", [secretIdentifier],
            OperatorLoginRow.login)
    }
}

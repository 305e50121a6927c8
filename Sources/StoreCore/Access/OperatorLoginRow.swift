package import MerchantCore
import Vocabulary

/// Converts an operator's login to and from its row in `operator_logins`.
package enum OperatorLoginRow {
    package static let columns =
        "secret_identifier, secret_digest, operator_uid, operator_groups, created_at, expires_at, used_at"

    package static func login(_ row: some StoredRow) throws -> OperatorLogin {
        let user = try row.operatorUser()
        return OperatorLogin(
            secret: try row.storedSecret(), uid: user.uid, groups: user.groups,
            createdAt: try row.timestamp("created_at"), expiresAt: try row.timestamp("expires_at"),
            usedAt: try row.timestampIfAny("used_at"))
    }

    /// The values of ``columns``.
    package static func values(_ login: OperatorLogin) -> Arguments {
        [
            login.secret.identifier, login.secret.digest.bytes, login.uid, login.groups.groupsText, login.createdAt,
            login.expiresAt, login.usedAt,
        ]
    }
}

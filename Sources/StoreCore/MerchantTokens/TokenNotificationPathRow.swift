package import MerchantCore
import Vocabulary

/// Converts a secret path for notifications to and from its row in `token_notification_paths`.
package enum TokenNotificationPathRow {
    package static let columns = "secret, merchant_identifier, created_at"

    package static func path(_ row: some StoredRow) throws -> TokenNotificationPath {
        TokenNotificationPath(
            secret: try row.text("secret"), merchantIdentifier: try row.merchantIdentifier(),
            createdAt: try row.timestamp("created_at"))
    }

    /// The values of ``columns``.
    package static func values(_ path: TokenNotificationPath) -> Arguments {
        [path.secret, path.merchantIdentifier.rawValue, path.createdAt]
    }
}

import MerchantCore
import Vocabulary

/// Converts a notification of a merchant token to and from its row in `token_notifications`.
enum TokenNotificationRow {
    /// The longest finding that the schema accepts, in bytes of UTF-8. A longer finding is truncated.
    private static let longestFinding = 4096

    static let columns = """
        token_notifications.sequence, event_id, token_notifications.merchant_identifier, token_notifications.source,
        received_at, state, failures, first_failed_at, due_at, finding
        """

    static func notification(_ row: Row) throws -> TokenNotification {
        TokenNotification(
            sequence: try row.integer("sequence"), eventIdentifier: try row.merchantTokenEventIdentifier(),
            merchantIdentifier: try row.merchantIdentifier(), source: try row.text("source"),
            receivedAt: try row.timestamp("received_at"),
            state: try row.oneOf(TokenNotification.State.self, "state"), failures: try row.integer("failures"),
            firstFailedAt: try row.timestampIfAny("first_failed_at"), dueAt: try row.timestamp("due_at"),
            finding: try row.textIfAny("finding"))
    }

    static let insertion = """
        INSERT INTO token_notifications (event_id, merchant_identifier, source, received_at, due_at, state)
        VALUES ($1, $2, $3, $4, $5, 'waiting') ON CONFLICT (event_id, merchant_identifier) DO NOTHING
        """

    static let update = """
        UPDATE token_notifications
        SET state = $1, failures = $2, first_failed_at = $3, due_at = $4, finding = $5, attempted_at = $6
        WHERE sequence = $7 AND state = 'waiting'
        """

    static func updateValues(_ notification: TokenNotification, attemptedAt time: Timestamp) -> Arguments {
        [
            notification.state.rawValue, notification.failures, notification.firstFailedAt?.millisecondsSince1970,
            notification.dueAt.millisecondsSince1970, notification.finding?.truncated(toBytes: longestFinding),
            time.millisecondsSince1970, notification.sequence,
        ]
    }
}

/// Converts a secret path for notifications to and from its row in `token_notification_paths`.
enum TokenNotificationPathRow {
    static let columns = "secret, merchant_identifier, created_at"

    static func path(_ row: Row) throws -> TokenNotificationPath {
        TokenNotificationPath(
            secret: try row.text("secret"), merchantIdentifier: try row.merchantIdentifier(),
            createdAt: try row.timestamp("created_at"))
    }

    static let insertion = "INSERT INTO token_notification_paths (\(columns)) VALUES ($1, $2, $3)"

    static func values(_ path: TokenNotificationPath) -> Arguments {
        [path.secret, path.merchantIdentifier.rawValue, path.createdAt.millisecondsSince1970]
    }
}

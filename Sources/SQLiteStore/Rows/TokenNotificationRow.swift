import GRDB
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
        VALUES (?, ?, ?, ?, ?, 'waiting') ON CONFLICT (event_id, merchant_identifier) DO NOTHING
        """

    static let update = """
        UPDATE token_notifications
        SET state = ?, failures = ?, first_failed_at = ?, due_at = ?, finding = ?, attempted_at = ?, is_overtaken = ?
        WHERE sequence = ? AND state = 'waiting'
        """

    static func updateValues(_ notification: TokenNotification, attemptedAt time: Timestamp) -> StatementArguments {
        [
            notification.state.rawValue, notification.failures, notification.firstFailedAt?.millisecondsSince1970,
            notification.dueAt.millisecondsSince1970, notification.finding?.truncated(toBytes: longestFinding),
            time.millisecondsSince1970, notification.isOvertaken, notification.sequence,
        ]
    }
}

extension TokenNotification {
    /// Whether later notifications of the lane overtake this one, because its next attempt is too late.
    fileprivate var isOvertaken: Bool {
        guard let firstFailedAt else { return false }
        return dueAt >= firstFailedAt.adding(Self.longestLaneDelay)
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

    static let insertion = "INSERT INTO token_notification_paths (\(columns)) VALUES (?, ?, ?)"

    static func values(_ path: TokenNotificationPath) -> StatementArguments {
        [path.secret, path.merchantIdentifier.rawValue, path.createdAt.millisecondsSince1970]
    }
}

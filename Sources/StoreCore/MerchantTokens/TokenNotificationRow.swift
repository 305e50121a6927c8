package import MerchantCore
package import Vocabulary

/// Converts a row of `token_notifications` to a notification of a merchant token, and a notification to the values of
/// the columns that an update changes.
package enum TokenNotificationRow {
    /// The longest finding that the schema accepts, in bytes of UTF-8. A longer finding is truncated.
    private static let longestFinding = 4096

    package static let columns = """
        token_notifications.sequence, event_id, token_notifications.merchant_identifier, token_notifications.source,
        received_at, state, failures, first_failed_at, due_at, finding
        """

    package static func notification(_ row: some StoredRow) throws -> TokenNotification {
        TokenNotification(
            sequence: try row.integer("sequence"), eventIdentifier: try row.merchantTokenEventIdentifier(),
            merchantIdentifier: try row.merchantIdentifier(), source: try row.text("source"),
            receivedAt: try row.timestamp("received_at"),
            state: try row.oneOf(TokenNotification.State.self, "state"), failures: try row.integer("failures"),
            firstFailedAt: try row.timestampIfAny("first_failed_at"), dueAt: try row.timestamp("due_at"),
            finding: try row.textIfAny("finding"))
    }

    /// The values of the columns that an attempt to fetch the event changes. In this order: `state`, `failures`,
    /// `first_failed_at`, `due_at`, `finding`, `attempted_at`.
    package static func updateValues(_ notification: TokenNotification, attemptedAt time: Timestamp) -> Arguments {
        [
            notification.state.rawValue, notification.failures, notification.firstFailedAt, notification.dueAt,
            notification.finding?.truncated(toBytes: longestFinding), time,
        ]
    }
}

import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func tokenNotification(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier
    ) throws -> TokenNotification? {
        try firstRow(
            """
            SELECT \(TokenNotificationRow.columns) FROM token_notifications
            WHERE event_id = $1 AND merchant_identifier = $2
            """, [event.rawValue, merchant.rawValue], TokenNotificationRow.notification)
    }

    // A lane is the queue of one merchant's waiting notifications from one address. Triggers keep the next notification
    // of each lane in `token_notification_lanes`, so this query reads only the lanes whose next notification is due.
    func nextTokenNotifications(
        dueAt time: Timestamp, excluding merchants: Set<MerchantIdentifier>, limit: Int
    ) throws -> [TokenNotification] {
        try allRows(
            """
            SELECT \(TokenNotificationRow.columns)
            FROM token_notification_lanes AS lane
                JOIN token_notifications ON token_notifications.sequence = next_sequence
            WHERE next_due_at <= $1
                AND lane.merchant_identifier NOT IN (SELECT jsonb_array_elements_text($2::text::jsonb))
            ORDER BY next_due_at, lane.attempted_at, next_sequence LIMIT $3
            """,
            [time, try JSONColumn.text(merchants.map(\.rawValue)), max(0, limit)],
            TokenNotificationRow.notification)
    }

    func waitingTokenNotifications() throws -> TokenNotificationQueue {
        let waiting = try firstRow("SELECT value FROM totals WHERE name = 'tokenNotificationsWaiting'", []) {
            try $0.integer("value")
        }
        let oldest = try firstRow(
            """
            SELECT received_at FROM token_notifications
            WHERE state = 'waiting' ORDER BY received_at LIMIT 1
            """, []
        ) { try $0.timestamp("received_at") }
        return TokenNotificationQueue(waiting: waiting ?? 0, oldest: oldest)
    }

    func waitingTokenNotifications(from source: String) throws -> Int {
        try firstRow("SELECT waiting FROM token_notification_sources WHERE source = $1", [source]) {
            try $0.integer("waiting")
        } ?? 0
    }

    func tokenNotificationPath(_ secret: String) throws -> TokenNotificationPath? {
        try firstRow(
            "SELECT \(TokenNotificationPathRow.columns) FROM token_notification_paths WHERE secret = $1", [secret],
            TokenNotificationPathRow.path)
    }

    func tokenNotificationPaths(of merchant: MerchantIdentifier) throws -> [TokenNotificationPath] {
        try allRows(
            """
            SELECT \(TokenNotificationPathRow.columns)
            FROM token_notification_paths
            WHERE merchant_identifier = $1 ORDER BY id DESC
            """, [merchant.rawValue], TokenNotificationPathRow.path)
    }
}

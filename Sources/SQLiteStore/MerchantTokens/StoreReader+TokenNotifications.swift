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
            WHERE event_id = ? AND merchant_identifier = ?
            """, [event.rawValue, merchant.rawValue], TokenNotificationRow.notification)
    }

    // A lane is the queue of one merchant's waiting notifications from one address. Triggers keep the next notification
    // of each lane in `token_notification_lanes`, so this query reads only the lanes whose next notification is due.
    // The index contains the merchant. So for the lanes of excluded merchants, the query reads only the index; this
    // takes about 30 ms for 100,000 lanes.
    func nextTokenNotifications(
        dueAt time: Timestamp, excluding merchants: Set<MerchantIdentifier>, limit: Int
    ) throws -> [TokenNotification] {
        try allRows(
            """
            SELECT \(TokenNotificationRow.columns)
            FROM token_notification_lanes AS lane INDEXED BY token_notification_lanes_due
                CROSS JOIN token_notifications ON token_notifications.sequence = next_sequence
            WHERE next_due_at <= ? AND lane.merchant_identifier NOT IN (SELECT value FROM json_each(?))
            ORDER BY next_due_at, lane.attempted_at, next_sequence LIMIT ?
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
            SELECT received_at FROM token_notifications INDEXED BY token_notifications_by_state
            WHERE state = 'waiting' ORDER BY received_at LIMIT 1
            """, []
        ) { try $0.timestamp("received_at") }
        return TokenNotificationQueue(waiting: waiting ?? 0, oldest: oldest)
    }

    func waitingTokenNotifications(from source: String) throws -> Int {
        try firstRow("SELECT waiting FROM token_notification_sources WHERE source = ?", [source]) {
            try $0.integer("waiting")
        } ?? 0
    }

    func tokenNotificationPath(_ secret: String) throws -> TokenNotificationPath? {
        try firstRow(
            "SELECT \(TokenNotificationPathRow.columns) FROM token_notification_paths WHERE secret = ?", [secret],
            TokenNotificationPathRow.path)
    }

    func tokenNotificationPaths(of merchant: MerchantIdentifier) throws -> [TokenNotificationPath] {
        try allRows(
            """
            SELECT \(TokenNotificationPathRow.columns)
            FROM token_notification_paths INDEXED BY token_notification_paths_of_merchant
            WHERE merchant_identifier = ? ORDER BY id DESC
            """, [merchant.rawValue], TokenNotificationPathRow.path)
    }
}

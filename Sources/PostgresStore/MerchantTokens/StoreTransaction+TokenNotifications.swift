import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func insertTokenNotification(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier, from source: String, at now: Timestamp
    ) throws -> Bool {
        try requireMerchant(merchant)
        return try execute(
            """
            INSERT INTO token_notifications (event_id, merchant_identifier, source, received_at, due_at, state)
            VALUES ($1, $2, $3, $4, $5, 'waiting') ON CONFLICT (event_id, merchant_identifier) DO NOTHING
            """, [event.rawValue, merchant.rawValue, source, now, now]) == 1
    }

    func update(_ notification: TokenNotification, at now: Timestamp) throws {
        let changed = try execute(
            """
            UPDATE token_notifications
            SET state = $1, failures = $2, first_failed_at = $3, due_at = $4, finding = $5, attempted_at = $6
            WHERE sequence = $7 AND state = 'waiting'
            """, TokenNotificationRow.updateValues(notification, attemptedAt: now) + [notification.sequence])
        guard changed == 1 else { throw MerchantError.doesNotWait(notification) }
    }

    func removeTokenNotifications(
        in states: Set<TokenNotification.State>, receivedBefore time: Timestamp, limit: Int
    ) throws -> Int {
        var remaining = max(0, limit)
        // One statement for each state, because the index (state, received_at) is in the order of `received_at` only
        // within each state.
        for state in TokenNotification.State.allCases where state != .waiting && states.contains(state) {
            remaining -= try execute(
                """
                DELETE FROM token_notifications WHERE sequence IN (
                    SELECT sequence FROM token_notifications
                    WHERE state = $1 AND received_at < $2 ORDER BY received_at LIMIT $3
                )
                """, [state.rawValue, time, remaining])
        }
        return max(0, limit) - remaining
    }

    func insert(_ path: TokenNotificationPath) throws {
        try requireMerchant(path.merchantIdentifier)
        try executeLater(
            "INSERT INTO token_notification_paths (\(TokenNotificationPathRow.columns)) VALUES ($1, $2, $3)",
            TokenNotificationPathRow.values(path))
    }
}

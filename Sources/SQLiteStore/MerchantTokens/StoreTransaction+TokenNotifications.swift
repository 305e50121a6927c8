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
            VALUES (?, ?, ?, ?, ?, 'waiting') ON CONFLICT (event_id, merchant_identifier) DO NOTHING
            """, [event.rawValue, merchant.rawValue, source, now, now]) == 1
    }

    func update(_ notification: TokenNotification, at now: Timestamp) throws {
        let changed = try execute(
            """
            UPDATE token_notifications
            SET state = ?, failures = ?, first_failed_at = ?, due_at = ?, finding = ?, attempted_at = ?, is_overtaken = ?
            WHERE sequence = ? AND state = 'waiting'
            """,
            TokenNotificationRow.updateValues(notification, attemptedAt: now)
                + [notification.isOvertaken, notification.sequence])
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
                    SELECT sequence FROM token_notifications INDEXED BY token_notifications_by_state
                    WHERE state = ? AND received_at < ? ORDER BY received_at LIMIT ?
                )
                """, [state.rawValue, time, remaining])
        }
        return max(0, limit) - remaining
    }

    func insert(_ path: TokenNotificationPath) throws {
        try requireMerchant(path.merchantIdentifier)
        try execute(
            "INSERT INTO token_notification_paths (\(TokenNotificationPathRow.columns)) VALUES (?, ?, ?)",
            TokenNotificationPathRow.values(path))
    }
}

extension TokenNotification {
    /// Whether later notifications of the lane overtake this one, because its next attempt is too late.
    fileprivate var isOvertaken: Bool {
        guard let firstFailedAt else { return false }
        return dueAt >= firstFailedAt.adding(Self.longestLaneDelay)
    }
}

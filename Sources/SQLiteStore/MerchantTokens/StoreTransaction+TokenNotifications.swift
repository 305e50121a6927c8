import GRDB
import MerchantCore
import Vocabulary

extension StoreTransaction {
    func insertTokenNotification(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier, from source: String, at now: Timestamp
    ) throws -> Bool {
        try requireMerchant(merchant)
        return try execute(
            TokenNotificationRow.insertion,
            [
                event.rawValue, merchant.rawValue, source, now.millisecondsSince1970, now.millisecondsSince1970,
            ]) == 1
    }

    func update(_ notification: TokenNotification, at now: Timestamp) throws {
        let changed = try execute(
            TokenNotificationRow.update, TokenNotificationRow.updateValues(notification, attemptedAt: now))
        guard changed == 1 else {
            throw MerchantError(
                .internalError,
                "notification \(notification.sequence) of a merchant token does not wait, so it cannot be changed")
        }
    }

    func removeTokenNotifications(
        in states: Set<TokenNotification.State>, receivedBefore time: Timestamp, limit: Int
    ) throws -> Int {
        var remaining = max(0, limit)
        // One statement for each state, because the index sorts only the notifications in one state.
        for state in TokenNotification.State.allCases where state != .waiting && states.contains(state) {
            remaining -= try execute(
                """
                DELETE FROM token_notifications WHERE sequence IN (
                    SELECT sequence FROM token_notifications INDEXED BY token_notifications_by_state
                    WHERE state = ? AND received_at < ? ORDER BY received_at LIMIT ?
                )
                """, [state.rawValue, time.millisecondsSince1970, remaining])
        }
        return max(0, limit) - remaining
    }

    func insert(_ path: TokenNotificationPath) throws {
        try requireMerchant(path.merchantIdentifier)
        try execute(TokenNotificationPathRow.insertion, TokenNotificationPathRow.values(path))
    }
}

import MerchantCore
import StoreCore
import Vocabulary

extension StoreReading {
    func events(_ query: EventQuery) throws -> [StoredEvent] {
        guard let merchants = query.merchants else { return try events(query, of: nil) }
        // One query for each merchant. The list is short, because a caller has permits for few merchants.
        return query.merge(try merchants.flatMap { try events(query, of: $0) })
    }

    private func events(_ query: EventQuery, of merchant: MerchantIdentifier?) throws -> [StoredEvent] {
        var conditions = Conditions()
        conditions.add("merchant_identifier =", merchant?.rawValue)
        conditions.add("kind =", query.kind?.rawValue)
        conditions.add("severity =", query.severity?.rawValue)
        if case .after(let sequence) = query.selection { conditions.add("sequence >", sequence) }
        // `LIMIT` keeps the first rows, so the newest events are read in descending order, and reversed afterwards.
        let readsBackwards = query.selection == .newest
        let clause = conditions.clause
        let limit = conditions.parameter(max(0, query.limit))
        let found = try allRows(
            """
            SELECT \(EventRow.columns) FROM events \(clause)
            ORDER BY sequence \(readsBackwards ? "DESC" : "ASC") LIMIT \(limit)
            """, conditions.arguments, EventRow.event)
        return readsBackwards ? found.reversed() : found
    }

    func webhooks() throws -> [WebhookState] {
        try allRows(
            """
            SELECT name, undelivered, parked, last_delivered_at, last_failed_at, last_failure, (
                SELECT occurred_at FROM events WHERE sequence = (
                    SELECT min(event_sequence) FROM event_deliveries
                    WHERE webhook_id = event_webhooks.id AND NOT is_parked
                )
            ) AS oldest_at
            FROM event_webhooks WHERE removed_at IS NULL ORDER BY name
            """, [], WebhookRow.state)
    }

    // A lane is the queue of one merchant's undelivered events to one webhook, or of the events without a merchant.
    // `is_next` marks the first event of each lane, because the events of a lane are delivered one after another.
    func nextDeliveries(to webhook: String, limit: Int) throws -> [PendingDelivery] {
        try allRows(
            """
            SELECT \(DeliveryRow.columns)
            FROM event_deliveries JOIN events ON sequence = event_sequence
            WHERE webhook_id = (SELECT id FROM event_webhooks WHERE name = $1 AND removed_at IS NULL) AND is_next
            ORDER BY due_at, event_sequence LIMIT $2
            """, [webhook, max(0, limit)], DeliveryRow.delivery)
    }
}

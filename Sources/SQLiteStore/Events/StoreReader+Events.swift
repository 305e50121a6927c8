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
        var conditions: [String] = []
        var arguments: Arguments = []
        var index = ""
        /// Adds a condition, unless the query has no value for it. The first condition chooses the index.
        func addCondition(_ column: String, _ value: String?, index name: String) {
            guard let value else { return }
            conditions.append("\(column) = ?")
            arguments += [value]
            if index.isEmpty { index = "INDEXED BY \(name)" }
        }
        addCondition("merchant_identifier", merchant?.rawValue, index: "events_of_merchant")
        addCondition("kind", query.kind?.rawValue, index: "events_of_kind")
        addCondition("severity", query.severity?.rawValue, index: "events_of_severity")
        // `LIMIT` keeps the first rows, so the newest events are read in descending order, and reversed afterwards.
        let readsBackwards = query.selection == .newest
        if case .after(let sequence) = query.selection {
            conditions.append("sequence > ?")
            arguments += [sequence]
        }
        let found = try allRows(
            """
            SELECT \(EventRow.columns) FROM events \(index)
            \(conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))")
            ORDER BY sequence \(readsBackwards ? "DESC" : "ASC") LIMIT ?
            """, arguments + [max(0, query.limit)], EventRow.event)
        return readsBackwards ? found.reversed() : found
    }

    func webhooks() throws -> [WebhookState] {
        try allRows(
            """
            SELECT name, undelivered, parked, last_delivered_at, last_failed_at, last_failure, (
                SELECT occurred_at FROM events WHERE sequence = (
                    SELECT min(event_sequence) FROM event_deliveries INDEXED BY event_deliveries_undelivered
                    WHERE webhook_id = event_webhooks.id AND is_parked = 0
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
            FROM event_deliveries INDEXED BY event_deliveries_due JOIN events ON sequence = event_sequence
            WHERE webhook_id = (SELECT id FROM event_webhooks WHERE name = ? AND removed_at IS NULL) AND is_next = 1
            ORDER BY due_at, event_sequence LIMIT ?
            """, [webhook, max(0, limit)], DeliveryRow.delivery)
    }
}

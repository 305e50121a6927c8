import MerchantCore
import StoreCore
import Vocabulary

extension StoreTransaction {
    func append(_ event: Event) throws {
        var event = event
        // Events are removed by age. An event with the time of a clock that was set back would be removed too early.
        if let earliestEventTime { event.occurredAt = max(event.occurredAt, earliestEventTime) }
        try executeLater(
            "INSERT INTO events (\(EventRow.insertedColumns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            try EventRow.values(event))
        changes.noteEvents()
    }

    func removeEvents(occurredBefore time: Timestamp, limit: Int) throws -> Int {
        try execute(
            """
            DELETE FROM events WHERE sequence IN (
                SELECT sequence FROM events AS old
                WHERE occurred_at < $1 AND NOT EXISTS (
                    SELECT 1 FROM event_deliveries
                    WHERE event_sequence = old.sequence AND NOT is_parked
                        AND webhook_id IN (SELECT id FROM event_webhooks WHERE removed_at IS NULL)
                )
                ORDER BY occurred_at LIMIT $2
            )
            """, [time, max(0, limit)])
    }

    /// Replaces the list of webhooks that get events. Webhooks that are not in `webhooks` are marked as removed. Their
    /// undelivered events wait until the webhook is in the list again, but may be removed earlier because of their age.
    func setWebhooks(_ webhooks: [WebhookRegistration], at now: Timestamp) throws {
        // Marks all webhooks as removed. The insertion below clears this mark for each webhook in the list.
        try executeLater(
            "UPDATE event_webhooks SET removed_at = $1 WHERE removed_at IS NULL", [now])
        for webhook in webhooks {
            try executeLater(
                """
                INSERT INTO event_webhooks (name, kinds, registered_at) VALUES ($1, $2, $3)
                ON CONFLICT (name) DO UPDATE SET kinds = excluded.kinds, removed_at = NULL
                """, WebhookRow.values(webhook, at: now))
        }
    }
}

// MARK: - Deliveries

// A lane is the queue of one merchant's undelivered events to one webhook, or of the events without a merchant. The
// events of a lane are sent one after another: only the event with the mark `is_next` may be sent. If the delivery of
// an event fails for too long, the event is parked: it is sent again only on request, and no longer blocks its lane.

extension StoreTransaction {
    func markDelivered(_ sequence: Int, to webhook: String, at now: Timestamp) throws {
        try executeLater(
            """
            DELETE FROM event_deliveries
            WHERE event_sequence = $1 AND webhook_id = (SELECT id FROM event_webhooks WHERE name = $2)
            """, [sequence, webhook])
        try executeLater(
            "UPDATE event_webhooks SET last_delivered_at = $1 WHERE name = $2", [now, webhook])
    }

    /// Records a failed delivery.
    ///
    /// - Parameter retryTime: when the event is sent again. If nil, the event is parked.
    func markFailed(
        _ sequence: Int, to webhook: String, because reason: String, next retryTime: Timestamp?, at now: Timestamp
    ) throws {
        let isParked = retryTime == nil
        // A parked delivery loses its mark `is_next` here. The trigger `event_deliveries_parked_or_not` then marks the
        // lane's first delivery that is not parked.
        try executeLater(
            """
            UPDATE event_deliveries
            SET failures = failures + 1, first_failed_at = coalesce(first_failed_at, $1), due_at = coalesce($2, due_at),
                is_next = is_next AND NOT $3, is_parked = $3
            WHERE event_sequence = $4 AND webhook_id = (SELECT id FROM event_webhooks WHERE name = $5)
            """,
            [now, retryTime, isParked, sequence, webhook])
        try executeLater(
            "UPDATE event_webhooks SET last_failed_at = $1, last_failure = $2 WHERE name = $3",
            [now, reason.truncated(toBytes: EventRow.longestDetail), webhook])
    }

    /// Puts up to `limit` parked events back into their lanes. After the commit, the event observer is notified, so
    /// that the deliveries start again.
    ///
    /// - Returns: how many events were put back.
    func unparkDeliveries(of sequence: Int?, to webhook: String?, limit: Int) throws -> Int {
        changes.noteEvents()
        var remaining = max(0, limit)
        for state in try webhooks() where state.parked > 0 && (webhook == nil || webhook == state.name) {
            // The trigger `event_deliveries_parked_or_not` moves the mark `is_next` to the first delivery of each lane.
            remaining -= try execute(
                """
                UPDATE event_deliveries SET is_parked = false, failures = 0, first_failed_at = NULL, due_at = 0
                WHERE webhook_id = (SELECT id FROM event_webhooks WHERE name = $1) AND event_sequence IN (
                    SELECT event_sequence FROM event_deliveries
                    WHERE webhook_id = (SELECT id FROM event_webhooks WHERE name = $2) AND is_parked
                        AND event_sequence BETWEEN $3 AND $4
                    ORDER BY event_sequence LIMIT $5
                )
                """, [state.name, state.name, sequence ?? 0, sequence ?? Int.max, remaining])
        }
        return max(0, limit) - remaining
    }
}

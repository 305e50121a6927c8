package import Vocabulary

/// Reads events and their deliveries to webhooks in a transaction of the store.
package protocol EventReading {
    func events(_ query: EventQuery) throws -> [StoredEvent]
    /// The webhooks that the settings define, sorted by name.
    func webhooks() throws -> [WebhookState]
    /// The first event that waits in each lane of the webhook, earliest due first. A lane is the queue of one
    /// merchant's events. The events that belong to no merchant form a lane of their own.
    func nextDeliveries(to webhook: String, limit: Int) throws -> [PendingDelivery]
}

extension EventReading {
    /// Events in the order of their sequences, starting after `sequence`.
    package func events(after sequence: Int?, merchant: MerchantIdentifier?, limit: Int) throws -> [StoredEvent] {
        try events(EventQuery(.after(sequence ?? 0), merchants: merchant.map { [$0] }, limit: limit))
    }
}

/// Reads and changes events and their deliveries to webhooks in a transaction of the store.
package protocol EventWriting: EventReading {
    /// Removes events that occurred before `time`, oldest first. Keeps an event while the daemon still tries to deliver
    /// it to a webhook. Removes parked events, whose delivery the daemon has given up.
    ///
    /// - Returns: the number of removed events, at most `limit`.
    func removeEvents(occurredBefore time: Timestamp, limit: Int) throws -> Int
    /// Sets the webhooks that get events from now on. A webhook that is not in the list gets no events until a later
    /// call names the webhook again.
    func setWebhooks(_ webhooks: [WebhookRegistration], at now: Timestamp) throws
    func markDelivered(_ sequence: Int, to webhook: String, at now: Timestamp) throws
    /// Records a failed attempt, and that the next attempt is due at `next`. If `next` is nil, parks the event: the
    /// daemon gives up its delivery until an admin requests it. Later events of the lane are then delivered.
    func markFailed(_ sequence: Int, to webhook: String, because reason: String, next: Timestamp?, at now: Timestamp)
        throws
    /// Puts parked events back into their lanes, due immediately.
    ///
    /// - Parameters:
    ///   - sequence: the sequence of one event; nil for all events.
    ///   - webhook: the name of one webhook; nil for all webhooks.
    /// - Returns: the number of deliveries that are due again, at most `limit`.
    func unparkDeliveries(of sequence: Int?, to webhook: String?, limit: Int) throws -> Int
}

/// Is notified after each commit that may have added events or deliveries.
package protocol EventObserver: Sendable {
    func eventsChanged()
}

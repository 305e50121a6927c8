package import Vocabulary

/// Reads events and their deliveries to webhooks in a transaction of the store.
package protocol EventReading {
    func events(_ query: EventQuery) throws -> [StoredEvent]
    /// The webhooks of the settings, sorted by name.
    func webhooks() throws -> [WebhookState]
    /// The first undelivered event of each lane of the webhook, earliest due first.
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
    /// Removes the oldest events that occurred before `time`. Keeps those whose delivery to a webhook of the settings
    /// is still being attempted; removes parked ones.
    ///
    /// - Returns: the number of removed events, at most `limit`.
    func removeEvents(occurredBefore time: Timestamp, limit: Int) throws -> Int
    /// Sets the webhooks that get events from now on. Webhooks that are not in the list get none until a later call
    /// names them again.
    func keepWebhooks(_ webhooks: [WebhookRegistration], at now: Timestamp) throws
    func markDelivered(_ sequence: Int, to webhook: String, at now: Timestamp) throws
    /// Records a failed attempt and when the next one is due. If `next` is nil, parks the event, so that later events
    /// of its lane are delivered.
    func markFailed(_ sequence: Int, to webhook: String, because reason: String, next: Timestamp?, at now: Timestamp)
        throws
    /// Puts parked events back into their lanes, due immediately.
    ///
    /// - Parameters:
    ///   - sequence: one event; nil for all.
    ///   - webhook: nil for all.
    /// - Returns: the number of deliveries, at most `limit`.
    func unparkDeliveries(of sequence: Int?, to webhook: String?, limit: Int) throws -> Int
}

/// Notified after a commit that may have added events or deliveries.
package protocol EventObserver: Sendable {
    func eventsChanged()
}

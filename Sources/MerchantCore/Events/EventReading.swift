package import Vocabulary

/// The port for stored events and their deliveries to webhooks: what a transaction may read of them.
package protocol EventReading {
    func events(_ query: EventQuery) throws -> [StoredEvent]
    /// The webhooks that the settings name, by name.
    func webhooks() throws -> [WebhookState]
    /// The first undelivered event of each lane of the webhook, earliest due first.
    func nextDeliveries(to webhook: String, limit: Int) throws -> [PendingDelivery]
}

extension EventReading {
    /// Events by sequence, starting after `sequence`.
    package func events(after sequence: Int?, merchant: MerchantIdentifier?, limit: Int) throws -> [StoredEvent] {
        try events(EventQuery(.after(sequence ?? 0), merchants: merchant.map { [$0] }, limit: limit))
    }
}

/// The port for stored events and their deliveries to webhooks: what a transaction may also change.
package protocol EventWriting: EventReading {
    /// Removes the oldest events that occurred before `time`, except those that a webhook of the settings has not received.
    ///
    /// - Returns: how many, at most `limit`.
    func removeEvents(occurredBefore time: Timestamp, limit: Int) throws -> Int
    /// Sets the webhooks that get events from now on. Others get none until they are named again.
    func keepWebhooks(_ webhooks: [WebhookRegistration], at now: Timestamp) throws
    func markDelivered(_ sequence: Int, to webhook: String, at now: Timestamp) throws
    /// Records a failed attempt and when the next one is due; nil parks the event, so that its lane continues.
    func markFailed(_ sequence: Int, to webhook: String, because reason: String, next: Timestamp?, at now: Timestamp)
        throws
    /// Puts parked events back into their lanes, due immediately.
    ///
    /// - Parameters:
    ///   - sequence: one event; nil for all.
    ///   - webhook: nil for all.
    /// - Returns: how many, at most `limit`.
    func unparkDeliveries(of sequence: Int?, to webhook: String?, limit: Int) throws -> Int
}

/// Notified after a commit that may have added events or deliveries.
package protocol EventObserver: Sendable {
    func eventsChanged()
}

package import Vocabulary

/// What can be asked of stored events and of their way to the webhooks.
package protocol EventReading {
    func events(_ query: EventQuery) throws -> [StoredEvent]
    /// The webhooks that the settings name, by name.
    func webhooks() throws -> [WebhookState]
    /// What the webhook is to get next: of each lane the first undelivered event, soonest due first.
    func nextDeliveries(to webhook: String, limit: Int) throws -> [PendingDelivery]
}

extension EventReading {
    /// In order, those after `sequence`.
    package func events(after sequence: Int?, merchant: MerchantIdentifier?, limit: Int) throws -> [StoredEvent] {
        try events(EventQuery(.after(sequence ?? 0), merchants: merchant.map { [$0] }, limit: limit))
    }
}

/// What can be changed. Everything done through one transaction commits together or not at all.
package protocol EventWriting {
    /// Stores an event, and with it what each webhook has yet to get.
    func append(_ event: Event) throws
    /// Removes the oldest of the events that occurred before `moment`, but none that a webhook of the settings waits for.
    ///
    /// - Returns: how many, at most `limit`.
    func removeEvents(occurredBefore moment: Timestamp, limit: Int) throws -> Int
    /// Makes these the webhooks that get events from now on; others get none until they are named again.
    func keepWebhooks(_ webhooks: [WebhookRegistration], at now: Timestamp) throws
    func markDelivered(_ sequence: Int, to webhook: String, at now: Timestamp) throws
    /// Notes a failed attempt, and when the next one is due; nil parks the event, so that its lane moves on.
    func markFailed(_ sequence: Int, to webhook: String, because reason: String, next: Timestamp?, at now: Timestamp)
        throws
    /// Takes parked events back into their lanes, due at once.
    ///
    /// - Parameters:
    ///   - sequence: one event; nil for all.
    ///   - webhook: nil for all.
    /// - Returns: how many, at most `limit`.
    func unparkDeliveries(of sequence: Int?, to webhook: String?, limit: Int) throws -> Int
}

/// Told after a commit that there may be events to list or to deliver.
package protocol EventObserver: Sendable {
    func eventsChanged()
}

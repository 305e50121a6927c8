package import MerchantCore
package import Vocabulary

/// Provides the next deliveries of each webhook, and records their outcomes.
package struct WebhookDeliveries: Sendable {
    package typealias Records = Transactions<any EventReading, any EventWriting>

    private let records: Records
    private let clock: any WallClock

    package init(records: Records, clock: any WallClock) {
        self.records = records
        self.clock = clock
    }

    /// The time of the machine's clock. A delivery is due when its due time is at or before this time.
    package var now: Timestamp { clock.now }

    /// Replaces the stored list of webhooks: new events are delivered only to these webhooks. The daemon calls this
    /// method at start or, if the database cannot be written then, as soon as it can be written.
    package func setWebhooks(_ webhooks: [WebhookRegistration]) async throws {
        let now = clock.now
        try await records.write { try $0.setWebhooks(webhooks, at: now) }
    }

    /// The first undelivered event of each of the webhook's lanes, earliest due first. A lane is the queue of one
    /// merchant's events, or of the events that concern no merchant.
    package func nextDeliveries(to webhook: String, limit: Int) async throws -> [PendingDelivery] {
        try await records.read { try $0.nextDeliveries(to: webhook, limit: limit) }
    }

    /// Records a successful delivery.
    package func delivered(_ delivery: PendingDelivery, to webhook: String) async throws {
        let now = clock.now
        try await records.write { try $0.markDelivered(delivery.event.sequence, to: webhook, at: now) }
    }

    /// Records a failed attempt.
    ///
    /// - Parameters:
    ///   - reason: why the attempt failed, without addresses and secrets.
    ///   - retryAfter: the shortest wait that the receiver asked for; nil if it asked for none.
    /// - Returns: when the next attempt is due; nil if attempts have failed for 24 hours. The event is then parked: the
    ///   daemon sends it again only if an admin requests this.
    package func failed(
        _ delivery: PendingDelivery, to webhook: String, because reason: String, retryAfter: Duration?
    ) async throws -> Timestamp? {
        let now = clock.now
        let next = DeliverySchedule.next(
            after: delivery, failedAt: now, retryAfter: retryAfter, jitter: Double.random(in: 0...1))
        try await records.write {
            try $0.markFailed(delivery.event.sequence, to: webhook, because: reason, next: next, at: now)
        }
        return next
    }
}

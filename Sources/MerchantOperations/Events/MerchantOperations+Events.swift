package import MerchantCore
package import Vocabulary

extension MerchantOperations {
    /// The longest that a caller may wait for an event.
    package static let longestEventWait = Duration.seconds(30)
    /// How many parked deliveries one request takes back.
    package static let mostRedeliveries = 10_000
    private static let eventsInABatch = 500

    package func events(_ query: EventQuery) async throws -> [StoredEvent] {
        try await repository.read { try $0.events(query) }
    }

    /// The same; where there are none, waits for the first.
    ///
    /// - Returns: none after `wait`, or when the task is cancelled.
    package func events(_ query: EventQuery, waitingUpTo wait: Duration) async throws -> [StoredEvent] {
        let deadline = ContinuousClock.now + min(wait, Self.longestEventWait)
        while true {
            let turn = notifier.turn
            let found = try await events(query)
            guard found.isEmpty, ContinuousClock.now < deadline else { return found }
            await notifier.rings(after: turn, until: deadline)
            guard !Task.isCancelled else { return [] }
        }
    }

    /// Removes events older than `age` in small writes, so that nobody waits for it; those that a webhook waits for stay.
    ///
    /// - Returns: how many.
    package func removeEvents(olderThan age: Duration) async throws -> Int {
        let limit = confirmedTime.reading().earliest.adding(.zero - age)
        var count = 0
        while !Task.isCancelled {
            let removed = try await repository.write {
                try $0.removeEvents(occurredBefore: limit, limit: Self.eventsInABatch)
            }
            count += removed
            guard removed == Self.eventsInABatch else { break }
        }
        return count
    }
}

// MARK: - Webhooks

extension MerchantOperations {
    /// Makes these the webhooks that get every event from now on. Done at start, before anything can happen.
    package func keepWebhooks(_ webhooks: [WebhookRegistration]) async throws {
        let now = clock.now
        try await repository.write { try $0.keepWebhooks(webhooks, at: now) }
    }

    /// What the webhook is to get next, soonest due first; one event of each lane.
    package func nextDeliveries(to webhook: String, limit: Int) async throws -> [PendingDelivery] {
        try await repository.read { try $0.nextDeliveries(to: webhook, limit: limit) }
    }

    package func delivered(_ delivery: PendingDelivery, to webhook: String) async throws {
        let now = clock.now
        try await repository.write { try $0.markDelivered(delivery.event.sequence, to: webhook, at: now) }
    }

    /// Notes a failed attempt.
    ///
    /// - Parameters:
    ///   - reason: in words, without addresses and secrets.
    ///   - wait: how long the receiver wants to be left alone.
    /// - Returns: when the next attempt is due; nil where the event was parked.
    package func failed(
        _ delivery: PendingDelivery, to webhook: String, because reason: String, notBefore wait: Duration?
    ) async throws -> Timestamp? {
        let now = clock.now
        let next = DeliverySchedule.next(
            after: delivery, failedAt: now, notBefore: wait, jitter: Double.random(in: 0...1))
        try await repository.write {
            try $0.markFailed(delivery.event.sequence, to: webhook, because: reason, next: next, at: now)
        }
        return next
    }

    /// Sends parked events again.
    ///
    /// - Parameters:
    ///   - sequence: one event; nil for all.
    ///   - webhook: nil for all.
    /// - Returns: how many deliveries, at most ``mostRedeliveries``.
    /// - Throws: `notFound` for a webhook that the settings do not name, or an event that is not parked.
    package func redeliver(
        _ sequence: Int?, to webhook: String?, for request: Request
    ) async throws -> Int {
        let now = clock.now
        return try await repository.write { transaction in
            if let webhook, try !transaction.webhooks().contains(where: { $0.name == webhook }) {
                throw MerchantError(
                    .notFound, "there is no webhook '\(webhook.prefix(64))', expected one that the settings name")
            }
            let count = try transaction.unparkDeliveries(of: sequence, to: webhook, limit: Self.mostRedeliveries)
            if let sequence, count == 0 {
                throw MerchantError(.notFound, "event \(sequence) is not parked, expected one that was given up")
            }
            if count > 0 {
                try transaction.append(
                    request.entry(
                        .eventsRedelivered, at: now, after: "\(count)",
                        reason: "event=\(sequence.map(String.init) ?? "*") webhook=\(webhook ?? "*")"))
            }
            return count
        }
    }
}

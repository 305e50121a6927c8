package import MerchantCore
import Vocabulary

/// Lists events, waits for new ones, removes old ones, and sends parked ones again.
///
/// An event is parked if its delivery to a webhook has failed for a day: the daemon then sends it only when an admin
/// says so.
package struct EventOperations: Sendable {
    package typealias Records = Transactions<any EventReading, any EventWriting & ChangeRecording>

    private let records: Records
    private let notifier: EventNotifier
    private let clock: any WallClock
    private let confirmedTime: ConfirmedTime

    package init(
        records: Records, notifier: EventNotifier, clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.notifier = notifier
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// The longest time that a caller may wait for an event.
    package static let longestEventWait = Duration.seconds(30)
    /// The most parked deliveries that one request sends again.
    package static let mostRedeliveries = 10_000
    private static let eventsInABatch = 500

    package func events(_ query: EventQuery) async throws -> [StoredEvent] {
        try await records.read { try $0.events(query) }
    }

    /// Lists events as ``events(_:)`` does. If there are none, waits for the first.
    ///
    /// - Returns: an empty list if there is no event within `wait`, or if the task is cancelled.
    package func events(_ query: EventQuery, waitingUpTo wait: Duration) async throws -> [StoredEvent] {
        let deadline = ContinuousClock.now + min(wait, Self.longestEventWait)
        while true {
            let generation = notifier.generation
            let found = try await events(query)
            guard found.isEmpty, ContinuousClock.now < deadline else { return found }
            await notifier.wait(after: generation, until: deadline)
            guard !Task.isCancelled else { return [] }
        }
    }

    /// Removes events older than `age`, in small writes, so that other writes do not wait. Keeps events whose delivery
    /// to a webhook is still pending. Parked events are removed.
    ///
    /// - Returns: the number of removed events.
    package func removeEvents(olderThan age: Duration) async throws -> Int {
        // The earlier of the machine's clock and the confirmed time, so that a clock that is ahead removes no events.
        let oldestKept = confirmedTime.reading().earliest.adding(.zero - age)
        var count = 0
        while !Task.isCancelled {
            let removed = try await records.write {
                try $0.removeEvents(occurredBefore: oldestKept, limit: Self.eventsInABatch)
            }
            count += removed
            guard removed == Self.eventsInABatch else { break }
        }
        return count
    }

    /// Sends parked events again.
    ///
    /// - Parameters:
    ///   - sequence: the event to send again; nil for all parked events.
    ///   - webhook: the webhook to send to; nil for all webhooks.
    /// - Returns: the number of deliveries that become due, at most ``mostRedeliveries``.
    /// - Throws: `notFound` for a webhook that the settings do not name, or an event that is not parked.
    package func redeliver(
        _ sequence: Int?, to webhook: String?, for request: Request
    ) async throws -> Int {
        let now = clock.now
        return try await records.write { transaction in
            if let webhook, try !transaction.webhooks().contains(where: { $0.name == webhook }) {
                throw MerchantError(
                    .notFound, "there is no webhook '\(webhook.prefix(64))', expected one that the settings name")
            }
            let count = try transaction.unparkDeliveries(of: sequence, to: webhook, limit: Self.mostRedeliveries)
            if let sequence, count == 0 {
                throw MerchantError(
                    .notFound, "event \(sequence) is not parked, expected an event whose delivery failed for a day")
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

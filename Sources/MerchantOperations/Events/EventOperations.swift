package import MerchantCore
import Vocabulary

/// Lists events, waits for new events, removes old events, and sends parked events again.
///
/// An event is parked if its delivery to a webhook has failed for a day. The daemon then sends the event again only
/// when an admin requests this.
package struct EventOperations: Sendable {
    package typealias Records = Transactions<any EventReading, any EventWriting & ChangeRecording>

    private let records: Records
    private let notifier: EventNotifier
    private let clock: any WallClock
    /// Events are removed by the earlier of the confirmed time and the machine's clock.
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
    /// The largest number of parked deliveries that one request sends again.
    package static let maximumRedeliveries = 10_000
    /// The largest number of events that one transaction removes.
    private static let eventsPerRemoval = 500

    package func events(_ query: EventQuery) async throws -> [StoredEvent] {
        try await records.read { try $0.events(query) }
    }

    /// Lists events as ``events(_:)`` does. If no event matches, waits until one does.
    ///
    /// - Parameter wait: the longest wait. A value above ``longestEventWait`` counts as ``longestEventWait``.
    /// - Returns: an empty list if no event matches within that time, or if the task is cancelled.
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

    /// Removes events older than `age`, in small transactions, so that other writes need not wait long. Keeps events
    /// whose delivery to a webhook is pending. Removes parked events too.
    ///
    /// - Returns: the number of removed events.
    package func removeEvents(olderThan age: Duration) async throws -> Int {
        // `earliest` is the earlier of the machine's clock and the confirmed time, so that a machine clock that is
        // ahead removes no events.
        let oldestKept = confirmedTime.reading().earliest.adding(.zero - age)
        var count = 0
        while !Task.isCancelled {
            let removed = try await records.write {
                try $0.removeEvents(occurredBefore: oldestKept, limit: Self.eventsPerRemoval)
            }
            count += removed
            guard removed == Self.eventsPerRemoval else { break }
        }
        return count
    }

    /// Sends parked events again.
    ///
    /// - Parameters:
    ///   - sequence: the sequence number of the event to send again; nil for all parked events.
    ///   - webhook: the webhook to send to; nil for all webhooks.
    /// - Returns: the number of deliveries that become due, at most ``maximumRedeliveries``.
    /// - Throws: `notFound` for a webhook that the settings do not name, or an event that is not parked.
    package func redeliver(
        _ sequence: Int?, to webhook: String?, for request: Request
    ) async throws -> Int {
        let now = clock.now
        return try await records.write { transaction in
            if let webhook, try !transaction.webhooks().contains(where: { $0.name == webhook }) {
                throw MerchantError(
                    .notFound,
                    "there is no webhook '\(webhook.prefix(64))': give the name of a webhook in the daemon's settings")
            }
            let count = try transaction.unparkDeliveries(of: sequence, to: webhook, limit: Self.maximumRedeliveries)
            if let sequence, count == 0 {
                throw MerchantError(
                    .notFound,
                    "event \(sequence) is not parked\(webhook.map { " for the webhook '\($0)'" } ?? ""): only events whose delivery failed for a day can be sent again"
                )
            }
            if count > 0 {
                try transaction.append(
                    request.auditEntry(
                        .eventsRedelivered, at: now, after: "\(count)",
                        reason: "event=\(sequence.map(String.init) ?? "*") webhook=\(webhook ?? "*")"))
            }
            return count
        }
    }
}

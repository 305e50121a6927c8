package import Vocabulary

/// A webhook as the store knows it.
package struct WebhookRegistration: Hashable, Sendable {
    /// 1 to 255 characters; two webhooks of one name are one.
    package let name: String
    /// The kinds of events it gets; nil for every kind.
    package let kinds: Set<Event.Kind>?

    package init(name: String, kinds: Set<Event.Kind>?) {
        self.name = name
        self.kinds = kinds
    }
}

/// How a webhook stands.
package struct WebhookState: Hashable, Sendable {
    package let name: String
    /// Events on their way, those that fail included.
    package var undelivered = 0
    /// Events given up after ``DeliverySchedule/patience`` of failures, until they are sent again.
    package var parked = 0
    /// When the oldest undelivered event occurred.
    package var oldestUndelivered: Timestamp?
    package var lastDelivered: Timestamp?
    package var lastFailed: Timestamp?
    /// In words, without addresses and secrets.
    package var lastFailure: String?

    package init(name: String) { self.name = name }
}

/// One event on its way to one webhook.
package struct PendingDelivery: Hashable, Sendable {
    package let event: StoredEvent
    /// What is delivered in order: a merchant's identifier, or empty for events of no merchant.
    package let lane: String
    /// Failed attempts so far.
    package let failures: Int
    package let firstFailed: Timestamp?
    /// Not to be sent before.
    package let due: Timestamp

    package init(event: StoredEvent, lane: String, failures: Int, firstFailed: Timestamp?, due: Timestamp) {
        self.event = event
        self.lane = lane
        self.failures = failures
        self.firstFailed = firstFailed
        self.due = due
    }
}

/// When a failed delivery is tried again, and when it is given up.
package enum DeliverySchedule {
    /// After so long a time of failures an event is parked.
    package static let patience = Duration.seconds(24 * 3_600)
    package static let firstPause = Duration.seconds(1)
    package static let longestPause = Duration.seconds(300)

    /// Doubles with each failure up to ``longestPause``.
    ///
    /// - Parameters:
    ///   - failures: how many there were, this one included: 1 or more.
    ///   - jitter: 0 to 1; takes up to half of the pause away, so that receivers are not met by everything at once.
    package static func pause(afterFailures failures: Int, jitter: Double) -> Duration {
        let doublings = min(max(failures - 1, 0), 16)
        return min(firstPause * (1 << doublings), longestPause) * (1 - jitter / 2)
    }

    /// - Returns: when the next attempt is due; nil if the event must be parked.
    package static func next(
        after delivery: PendingDelivery, failedAt now: Timestamp, notBefore wait: Duration?, jitter: Double
    ) -> Timestamp? {
        if let first = delivery.firstFailed, first.adding(patience) <= now { return nil }
        let pause = pause(afterFailures: delivery.failures + 1, jitter: jitter)
        return now.adding(max(pause, wait ?? .zero))
    }
}

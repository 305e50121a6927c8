package import Vocabulary

/// What the store keeps of a webhook that the settings define.
package struct WebhookRegistration: Hashable, Sendable {
    /// 1 to 255 characters; identifies the webhook.
    package let name: String
    /// The kinds of events that the webhook receives; nil for every kind.
    package let kinds: Set<Event.Kind>?

    package init(name: String, kinds: Set<Event.Kind>?) {
        self.name = name
        self.kinds = kinds
    }
}

/// The state of a webhook.
package struct WebhookState: Hashable, Sendable {
    package let name: String
    /// The number of events that wait for delivery, including events whose delivery has failed before. Does not include
    /// parked events.
    package var undelivered = 0
    /// The number of parked events: their delivery failed for ``DeliverySchedule/parksAfter``, and the daemon sends
    /// them again only if an admin requests it.
    package var parked = 0
    /// When the oldest event that waits for delivery occurred.
    package var oldestUndelivered: Timestamp?
    package var lastDelivered: Timestamp?
    package var lastFailed: Timestamp?
    /// The reason of the last failure, without addresses and secrets.
    package var lastFailure: String?

    package init(name: String) { self.name = name }
}

/// One event that must be delivered to one webhook.
package struct PendingDelivery: Hashable, Sendable {
    package let event: StoredEvent
    /// The queue that the event waits in: a merchant's identifier, or empty for events of no merchant. The events of
    /// one lane are delivered one after another.
    package let lane: String
    /// Failed attempts so far.
    package let failures: Int
    /// When the first attempt failed; nil if no attempt has failed.
    package let firstFailed: Timestamp?
    /// The earliest time of the next attempt.
    package let due: Timestamp

    package init(event: StoredEvent, lane: String, failures: Int, firstFailed: Timestamp?, due: Timestamp) {
        self.event = event
        self.lane = lane
        self.failures = failures
        self.firstFailed = firstFailed
        self.due = due
    }
}

/// When a failed delivery is repeated, and when it is parked.
package enum DeliverySchedule {
    /// An event whose delivery has failed for this time is parked: the daemon sends it again only if an admin
    /// requests it.
    package static let parksAfter = Duration.seconds(24 * 3_600)
    package static let firstPause = Duration.seconds(1)
    package static let longestPause = Duration.seconds(300)

    /// The pause before the next attempt. It doubles with each failure up to ``longestPause``.
    ///
    /// - Parameters:
    ///   - failures: the number of failures including this one, at least 1.
    ///   - jitter: 0 to 1; shortens the pause by up to a half, so that deliveries spread over time.
    package static func pause(afterFailures failures: Int, jitter: Double) -> Duration {
        let doublings = min(max(failures - 1, 0), 16)
        return min(firstPause * (1 << doublings), longestPause) * (1 - jitter / 2)
    }

    /// - Parameters:
    ///   - retryAfter: the pause that the receiver asked for; nil if it asked for none. The next attempt is not due
    ///     earlier.
    ///   - jitter: as for ``pause(afterFailures:jitter:)``.
    /// - Returns: when the next attempt is due; nil if the event must be parked.
    package static func next(
        after delivery: PendingDelivery, failedAt now: Timestamp, retryAfter: Duration?, jitter: Double
    ) -> Timestamp? {
        if let first = delivery.firstFailed, first.adding(parksAfter) <= now { return nil }
        let pause = pause(afterFailures: delivery.failures + 1, jitter: jitter)
        return now.adding(max(pause, retryAfter ?? .zero))
    }
}

package import Vocabulary

/// A notification of an event of a merchant token. The event itself must still be fetched from Apple.
package struct TokenNotification: Hashable, Sendable {
    package enum State: String, NamedValue {
        /// The event must still be fetched.
        case waiting
        /// The event was fetched, and its result is stored.
        case done
        /// Apple does not know the event, or Apple responded with 403 while too many notifications from the same
        /// address were waiting.
        case unknown
        /// The event could not be fetched for 7 days. Apple no longer has it.
        case failed
    }

    /// How long a failing notification delays the later notifications of its lane, counted from its first failure. A
    /// lane is the queue of one merchant's notifications from one address. Without this limit, one event that Apple
    /// cannot deliver would delay all others of the lane until Apple has discarded them.
    package static let longestLaneDelay = Duration.seconds(600)

    /// Increases with each arrival, with gaps.
    package let sequence: Int
    package let eventIdentifier: MerchantTokenEventIdentifier
    /// The merchant under whose identifier the event is fetched.
    package let merchantIdentifier: MerchantIdentifier
    /// The address that sent the notification.
    package let source: String
    package let receivedAt: Timestamp
    package var state: State
    /// Failed attempts to fetch the event.
    package var failures: Int
    package var firstFailedAt: Timestamp?
    /// The earliest time of the next attempt.
    package var dueAt: Timestamp
    /// Why the last attempt failed, without secrets.
    package var finding: String?

    package init(
        sequence: Int, eventIdentifier: MerchantTokenEventIdentifier, merchantIdentifier: MerchantIdentifier,
        source: String, receivedAt: Timestamp, state: State = .waiting, failures: Int = 0,
        firstFailedAt: Timestamp? = nil, dueAt: Timestamp, finding: String? = nil
    ) {
        self.sequence = sequence
        self.eventIdentifier = eventIdentifier
        self.merchantIdentifier = merchantIdentifier
        self.source = source
        self.receivedAt = receivedAt
        self.state = state
        self.failures = failures
        self.firstFailedAt = firstFailedAt
        self.dueAt = dueAt
        self.finding = finding
    }
}

/// A secret part of a merchant's notification URL. A client that knows it can send notifications for this merchant, and
/// nothing else.
package struct TokenNotificationPath: Hashable, Sendable {
    /// 32 characters of `a-z A-Z 0-9`.
    package let secret: String
    package let merchantIdentifier: MerchantIdentifier
    package let createdAt: Timestamp

    package init(secret: String, merchantIdentifier: MerchantIdentifier, createdAt: Timestamp) {
        self.secret = secret
        self.merchantIdentifier = merchantIdentifier
        self.createdAt = createdAt
    }
}

package import MerchantCore
package import MetricsKit
import Synchronization
import Vocabulary

/// Counts notifications of merchant tokens, and the fetched events. Remembers when a notification was last ignored or
/// refused, for the findings of `status`.
package final class MerchantTokenMetrics: MetricsSource {
    /// What happened to a notification.
    package enum Notification: String, CaseIterable, Sendable {
        case stored, repeated
        /// The identifier of the event is not valid.
        case malformedEvent
        /// The secret part of the path is unknown.
        case unknownPath
        /// The path contains no secret and the daemon cannot determine the merchant, or the merchant was removed.
        case noMerchant
        /// The limit of waiting notifications was reached.
        case overLimit
        /// The address is not in `merchant-tokens.sources`.
        case sourceRefused
        /// The address sent too many notifications in a minute.
        case rateLimited
        /// The notification could not be stored.
        case notStored
    }

    /// The outcome of an attempt to fetch an event.
    package enum Fetch: String, CaseIterable, Sendable {
        case stored
        /// Apple does not know the event, or refuses the request for it.
        case unknown
        /// Apple responded with 403, and too many notifications from the same address already wait for another attempt.
        case forbidden
        /// The event belongs to a token of another merchant.
        case otherMerchant
        /// The attempt failed, and will be repeated.
        case failed
        /// The event could not be fetched for 7 days.
        case lost
        /// No call was made, because calls to Apple are paused or there is no identity.
        case postponed
    }

    /// The outcome of a device's request for usage information.
    package enum UsageRequest: String, CaseIterable, Sendable {
        case sent, notAuthorized
        /// There is no usage information of the token.
        case nothing
        /// The backend, Apple or the daemon failed.
        case failed

        init(_ code: MerchantError.Code?) {
            self =
                switch code {
                case .unauthorized: .notAuthorized
                case .merchantTokenNotFound: .nothing
                default: .failed
                }
        }
    }

    package enum EventType: String, CaseIterable, Sendable {
        case unlink, metadata, cardArt, publicKey
        /// A type that the daemon does not know.
        case other
    }

    private let notifications = LabeledCounter<Notification>()
    private let fetches = LabeledCounter<Fetch>()
    private let events = LabeledCounter<EventType>()
    private let usageRequests = LabeledCounter<UsageRequest>()
    private let droppedPayments = AtomicCounts(count: 1)
    private let queue = Mutex(TokenNotificationQueue(waiting: 0, oldest: nil))
    private let recent = Mutex(RecentNotifications())
    private let clock: any WallClock

    package init(clock: any WallClock) { self.clock = clock }

    func count(_ notification: Notification, at now: Timestamp) {
        notifications.add(notification)
        recent.withLock { $0.add(notification, at: now) }
    }

    func count(fetch: Fetch, at now: Timestamp) {
        fetches.add(fetch)
        if [.unknown, .forbidden].contains(fetch) { recent.withLock { $0.addUnknownEvent(at: now) } }
    }

    func count(type: EventType) { events.add(type) }

    func count(usage: UsageRequest) { usageRequests.add(usage) }

    func countDroppedPayment() { droppedPayments.add(at: 0) }

    /// Stores the length of the queue for the page of metrics.
    func set(_ queue: TokenNotificationQueue) { self.queue.withLock { $0 = queue } }

    /// The notifications of the last one to two hours that the daemon ignored or refused, and the events that
    /// it will not fetch because Apple does not know them or answers with 403.
    func recentProblems(at now: Timestamp) -> RecentNotifications.Problems { recent.withLock { $0.problems(at: now) } }

    package func append(to page: inout MetricsText) {
        page.append(
            "merchantkeyd_merchant_token_notifications_total", .counter,
            "Notifications of merchant tokens that were received, by outcome.", notifications.samples("outcome"))
        page.append(
            "merchantkeyd_merchant_token_fetches_total", .counter,
            "Attempts to fetch an event of a merchant token from Apple, by outcome.", fetches.samples("outcome"))
        page.append(
            "merchantkeyd_merchant_token_events_total", .counter,
            "Events of merchant tokens that were fetched from Apple and stored, by type.", events.samples("type"))
        page.append(
            "merchantkeyd_merchant_token_usage_requests_total", .counter,
            "Requests of devices for the usage information of a merchant token, by outcome.",
            usageRequests.samples("outcome"))
        page.append(
            "merchantkeyd_merchant_token_payments_dropped_total", .counter,
            "Payments whose merchant token was not recorded, because too many merchant tokens had payments at once.",
            [MetricsText.Sample([], droppedPayments[0])])
        let queue = queue.withLock { $0 }
        page.append(
            gauge: "merchantkeyd_merchant_token_notifications_waiting",
            "Notifications of merchant tokens whose event must still be fetched from Apple.", queue.waiting)
        let age = queue.oldest.map { (clock.now.millisecondsSince1970 - $0.millisecondsSince1970) / 1000 } ?? 0
        page.append(
            gauge: "merchantkeyd_merchant_token_notifications_oldest_age_seconds",
            "Time since the oldest waiting notification of a merchant token arrived; 0 if none.", Int(max(0, age)))
    }
}

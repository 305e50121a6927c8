package import Vocabulary

extension Paths {
    package static let webhooks = "/v1/webhooks"
    package static let webhookTest = "/v1/webhooks/test"
}

/// A webhook that the daemon's settings define, as `GET /v1/webhooks` lists it.
package struct WebhookDocument: Codable, Hashable, Sendable {
    package let name: String
    /// The host of the webhook's URL, with the port unless the port is 443. The path and the query are not shown,
    /// because they may contain a secret.
    package let host: String
    /// The kinds of events that the webhook receives; absent for every kind.
    package var kinds: [String]?
    /// How many secrets sign a delivery: one, or two while an old secret is replaced. Absent if the file with the
    /// secrets can't be read.
    package var secrets: Int?
    /// Events that wait for delivery, without parked events.
    package var undelivered = 0
    /// Events whose delivery failed for 24 hours.
    package var parked = 0
    package var oldestUndelivered: Timestamp?
    package var lastDelivered: Timestamp?
    package var lastFailed: Timestamp?
    /// Why the delivery at `lastFailed` failed.
    package var lastFailure: String?

    package init(_ name: String, host: String) { (self.name, self.host) = (name, host) }
}

/// The body of `POST /v1/webhooks/test`.
package struct TestWebhookRequest: RequestBody {
    /// The webhook's name.
    package let webhook: String

    package init(webhook: String) { self.webhook = webhook }
}

/// The response of `POST /v1/webhooks/test`: what the webhook's server did with the test event.
package struct WebhookTestDocument: Codable, Hashable, Sendable {
    package let webhook: String
    /// The `id` of the test event.
    package let eventId: String
    /// Whether the server accepted the event with a status from 200 to 299.
    package let delivered: Bool
    /// The time from the start of the attempt until the response, or until the failure.
    package let milliseconds: Int
    /// The status of the response; absent if no response was received.
    package var status: Int?
    /// The first 1024 bytes of the response's body; absent if no response was received.
    package var responseBody: String?
    /// Why the server did not accept the event; absent if the server accepted it.
    package var failure: String?

    package init(_ webhook: String, eventId: String, delivered: Bool, milliseconds: Int) {
        (self.webhook, self.eventId) = (webhook, eventId)
        (self.delivered, self.milliseconds) = (delivered, milliseconds)
    }
}

package import Vocabulary
package import WireAPI

/// The webhooks that the settings define. Sends test events to them.
package protocol WebhookTesting: Sendable {
    var configured: [ConfiguredWebhook] { get }

    /// Sends an event once, whether the webhook receives events of this kind or not.
    ///
    /// - Returns: nil if the settings define no webhook with this name.
    func send(_ event: EventDocument, to webhook: String, at now: Timestamp) async -> WebhookTestResult?
}

/// A webhook as the settings define it, without the path and query of its address, which may contain a secret.
package struct ConfiguredWebhook: Hashable, Sendable {
    package let name: String
    /// The host of the address, with the port unless the port is 443.
    package let host: String
    /// The kinds of events that the webhook receives, sorted; nil for every kind.
    package let kinds: [String]?
    /// How many secrets sign a delivery; nil if the file with the secrets can't be read.
    package let secretCount: Int?

    package init(name: String, host: String, kinds: [String]?, secretCount: Int?) {
        self.name = name
        self.host = host
        self.kinds = kinds
        self.secretCount = secretCount
    }
}

/// The outcome of one test event.
package struct WebhookTestResult: Hashable, Sendable {
    /// The status of the response; nil if no response was received.
    package var status: Int?
    /// The beginning of the response's body; nil if no response was received.
    package var responseBody: String?
    /// Why the receiver did not accept the event; nil if it did.
    package var failure: String?
    package var duration = Duration.zero

    package init() {}
}

/// The port of a daemon whose settings define no webhook.
package struct NoWebhooks: WebhookTesting {
    package init() {}

    package var configured: [ConfiguredWebhook] { [] }

    package func send(_ event: EventDocument, to webhook: String, at now: Timestamp) async -> WebhookTestResult? { nil }
}

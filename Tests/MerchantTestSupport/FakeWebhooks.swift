package import MerchantOperations
package import Vocabulary
package import WireAPI

/// Two webhooks: `ops`, whose server accepts every event, and `broken`, whose server can't be reached.
package struct FakeWebhooks: WebhookTesting {
    package init() {}

    package var configured: [ConfiguredWebhook] {
        [
            ConfiguredWebhook(name: "ops", host: "ops.example.com", kinds: ["keyRevoked"], secretCount: 2),
            ConfiguredWebhook(name: "broken", host: "[2001:db8::1]:8443", kinds: nil, secretCount: nil),
        ]
    }

    package func send(_ event: EventDocument, to webhook: String, at now: Timestamp) async -> WebhookTestResult? {
        var result = WebhookTestResult()
        result.duration = .milliseconds(12)
        switch webhook {
        case "ops": (result.status, result.responseBody) = (204, "")
        case "broken": result.failure = "no connection: connection refused"
        default: return nil
        }
        return result
    }
}

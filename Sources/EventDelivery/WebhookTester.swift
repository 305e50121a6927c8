package import MerchantCore
package import MerchantOperations
import OutboundHTTP
package import Vocabulary
package import WireAPI

/// Lists the webhooks that the settings define, and sends test events to them.
package struct WebhookTester: WebhookTesting {
    /// How many bytes of a response's body a test shows.
    private static let shownBodyBytes = 1_024

    private let webhooks: CurrentValue<[Webhook]>
    private let limits: EventDelivery.Limits

    package init(_ webhooks: CurrentValue<[Webhook]>, limits: EventDelivery.Limits = EventDelivery.Limits()) {
        self.webhooks = webhooks
        self.limits = limits
    }

    package var configured: [ConfiguredWebhook] {
        webhooks.value.map { webhook in
            let address = webhook.address
            return ConfiguredWebhook(
                name: webhook.name, host: address.port == 443 ? address.host : "\(address.host):\(address.port)",
                kinds: webhook.kinds?.map(\.rawValue).sorted(),
                secretCount: (try? WebhookSecrets.read(webhook.secretFile))?.count)
        }
    }

    package func send(_ event: EventDocument, to name: String, at now: Timestamp) async -> WebhookTestResult? {
        guard let webhook = webhooks.value.first(where: { $0.name == name }) else { return nil }
        // A client of its own, because the clients of deliveries keep no part of a response's body.
        let clients = WebhookClients(to: webhook, limits: limits, keptBodyBytes: Self.shownBodyBytes)
        let start = ContinuousClock.now
        var result = WebhookTestResult()
        do {
            let response = try await WebhookSender(webhook: webhook, clients: clients, limits: limits)
                .send(event, at: now)
            result.status = response.status
            result.responseBody = String(decoding: response.body, as: UTF8.self)
            try WebhookSender.requireSuccess(response, at: now)
        } catch {
            result.failure = DeliveryFailure(error).description
        }
        result.duration = ContinuousClock.now - start
        await clients.close()
        return result
    }
}

import NIOHTTP1
package import WireAPI

extension AdminClient {
    /// The webhooks that the daemon's settings define.
    package func webhooks() async throws(ClientError) -> Response<Page<WebhookDocument>> {
        try await httpClient.fetch(SocketCall(path: Paths.webhooks))
    }

    /// Makes the daemon send a signed test event to a webhook.
    package func testWebhook(_ name: String) async throws(ClientError) -> Response<WebhookTestDocument> {
        try await post(Paths.webhookTest, TestWebhookRequest(webhook: name))
    }
}

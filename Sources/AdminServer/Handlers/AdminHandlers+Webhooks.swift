import HTTPTypes
import MerchantCore
import MerchantOperations
import RESTKit
import WireAPI

extension AdminRoutes {
    static let webhooks: [AdminRoute] = [
        .reads("/v1/webhooks", AdminHandlers.listWebhooks),
        .changes(.post, "/v1/webhooks/test", logMessage: "webhook tested", AdminHandlers.testWebhook),
    ]
}

extension AdminHandlers {
    func listWebhooks(_ call: RESTCall) async throws -> RESTResponse {
        let found = try await operations.webhooks.list()
        return try RESTResponse(Page(items: found.map { WebhookDocument($0.webhook, $0.state) }, nextCursor: nil))
    }

    func testWebhook(_ call: RESTCall) async throws -> RESTResponse {
        let body = try call.read(TestWebhookRequest.self)
        let (id, result) = try await operations.webhooks.test(body.webhook, for: call.request)
        return try RESTResponse(WebhookTestDocument(body.webhook, eventId: id, result))
    }
}

extension WebhookDocument {
    fileprivate init(_ webhook: ConfiguredWebhook, _ state: WebhookState) {
        self.init(webhook.name, host: webhook.host)
        (kinds, secrets) = (webhook.kinds, webhook.secretCount)
        (undelivered, parked, oldestUndelivered) = (state.undelivered, state.parked, state.oldestUndelivered)
        (lastDelivered, lastFailed, lastFailure) = (state.lastDelivered, state.lastFailed, state.lastFailure)
    }
}

extension WebhookTestDocument {
    fileprivate init(_ webhook: String, eventId: String, _ result: WebhookTestResult) {
        self.init(
            webhook, eventId: eventId, delivered: result.failure == nil,
            milliseconds: Int(result.duration / .milliseconds(1)))
        (status, responseBody, failure) = (result.status, result.responseBody, result.failure)
    }
}

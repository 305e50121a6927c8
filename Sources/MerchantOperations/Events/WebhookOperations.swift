package import MerchantCore
import Vocabulary
import WireAPI

/// Lists the webhooks of the settings with the state of their deliveries, and sends test events.
package struct WebhookOperations: Sendable {
    package typealias Records = Transactions<any EventReading, any ChangeRecording>

    /// The kind of a test event. No stored event has this kind.
    package static let testKind = "webhookTest"

    private let records: Records
    private let webhooks: any WebhookTesting
    private let clock: any WallClock

    package init(records: Records, webhooks: any WebhookTesting, clock: any WallClock) {
        self.records = records
        self.webhooks = webhooks
        self.clock = clock
    }

    /// Every webhook of the settings, in the order of their names.
    package func list() async throws -> [(webhook: ConfiguredWebhook, state: WebhookState)] {
        let states = try await records.read { try $0.webhooks() }
        return webhooks.configured.sorted { $0.name < $1.name }.map { webhook in
            (webhook, states.first { $0.name == webhook.name } ?? WebhookState(name: webhook.name))
        }
    }

    /// Sends a signed test event to a webhook immediately, without repeats. The event is not stored.
    ///
    /// - Returns: the id of the event, and the outcome.
    /// - Throws: `notFound` for a webhook that the settings do not name.
    package func test(_ name: String, for request: Request) async throws -> (id: String, result: WebhookTestResult) {
        let now = clock.now
        let id = Hex.encode((0..<16).map { _ in UInt8.random(in: 0...255) })
        let event = EventDocument(
            id, sequence: 0, kind: Self.testKind, severity: Event.Severity.notice.rawValue, occurredAt: now,
            detail: "a test of this webhook, which an admin requested; nothing happened")
        guard let result = await webhooks.send(event, to: name, at: now) else {
            throw MerchantError(
                .notFound,
                "there is no webhook '\(name.prefix(64))': give the name of a webhook in the daemon's settings")
        }
        let finished = clock.now
        try await records.write { transaction in
            try transaction.append(
                request.auditEntry(
                    .webhookTested, at: finished, after: result.failure == nil ? "delivered" : "failed",
                    reason: "webhook=\(name)\(result.status.map { " status=\($0)" } ?? "")"))
        }
        return (id, result)
    }
}

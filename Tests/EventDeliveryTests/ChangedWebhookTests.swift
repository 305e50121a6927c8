import EventDelivery
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing

/// Webhooks that a reload adds, changes and removes while events are delivered.
@Suite(.enabled(if: Receiver.isAvailable, "needs Python"))
struct ChangedWebhookTests {
    let fixture: DeliveryFixture
    let receiver: Receiver

    init() throws {
        fixture = try DeliveryFixture()
        receiver = try Receiver()
    }

    private func change(_ webhooks: ChangingValue<[Webhook]>, to new: [Webhook]) async throws {
        try await fixture.operations.deliveries.setWebhooks(new.map(\.registration))
        webhooks.change(to: new)
    }

    @Test func `a webhook that is added gets the events from then on`() async throws {
        let hook = try fixture.webhook(receiver)
        let webhooks = ChangingValue<[Webhook]>([])
        try await fixture.delivering(to: webhooks.current) { [fixture, receiver] in
            try await fixture.append(.keyPromoted, 1)
            try await change(webhooks, to: [hook])
            try await fixture.append(.keyPromoted, 2)
            try await fixture.until("delivery") { receiver.deliveries.count == 1 }
        }
        #expect(receiver.deliveries.map(\.sequence) == [2])
    }

    @Test func `a webhook that is removed gets no further event, and one that is added again continues`() async throws {
        let hook = try fixture.webhook(receiver)
        let webhooks = ChangingValue([hook])
        try await fixture.delivering(to: webhooks.current) { [fixture, receiver] in
            try await fixture.append(.keyPromoted, 1)
            try await fixture.until("delivery") { receiver.deliveries.count == 1 }
            try await change(webhooks, to: [])
            try await fixture.append(.keyPromoted, 1)
            try await change(webhooks, to: [hook])
            try await fixture.append(.keyPromoted, 1)
            try await fixture.until("delivery of the last event") { receiver.deliveries.count == 2 }
        }
        // The second event occurred while there was no webhook.
        #expect(receiver.deliveries.map(\.sequence) == [1, 3])
    }

    @Test func `a changed webhook waits for the end of its attempts, so that no event is sent twice`() async throws {
        let hook = try fixture.webhook(receiver)
        let changed = try fixture.webhook(receiver, host: "127.0.0.1")
        let webhooks = ChangingValue([hook])
        try receiver.mode("slow")
        try await fixture.delivering(to: webhooks.current, gracePeriod: .seconds(20)) { [fixture, receiver] in
            try await fixture.append(.keyPromoted, 1)
            try await fixture.until("an attempt") { receiver.deliveries.count == 1 }
            try await change(webhooks, to: [changed])
            try receiver.mode("ok")
            try await fixture.append(.keyPromoted, 1)
            try await fixture.until("delivery") { try fixture.state?.undelivered == 0 }
        }
        let hosts = receiver.deliveries.map { "\($0.sequence) \($0.host.prefix { $0 != ":" })" }
        #expect(hosts == ["1 localhost", "2 127.0.0.1"])
    }
}

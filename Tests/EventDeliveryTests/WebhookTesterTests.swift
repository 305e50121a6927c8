import EventDelivery
import Foundation
import MerchantCore
import MerchantOperations
import Testing
import Vocabulary
import WireAPI

/// Test events to a real receiver over TLS.
@Suite(.enabled(if: Receiver.isAvailable, "needs Python"))
struct WebhookTesterTests {
    private static let now = Timestamp(Date())
    private static let event = EventDocument(
        String(repeating: "0", count: 32), sequence: 0, kind: "webhookTest", severity: "notice", occurredAt: now,
        detail: "a test")

    let fixture: DeliveryFixture
    let receiver: Receiver

    init() throws {
        fixture = try DeliveryFixture()
        receiver = try Receiver()
    }

    private func test(_ name: String = "hook", attempt: Duration = .seconds(15)) async throws -> WebhookTestResult? {
        var limits = EventDelivery.Limits()
        limits.attemptTimeout = attempt
        return await WebhookTester(CurrentValue([try fixture.webhook(receiver)]), limits: limits)
            .send(Self.event, to: name, at: Self.now)
    }

    @Test func `a test event arrives once and signed, and the result has the status`() async throws {
        let result = try #require(try await test())
        #expect(result.status == 204 && result.failure == nil && result.responseBody == "", "\(result)")
        let got = receiver.deliveries
        #expect(got.count == 1 && got.allSatisfy { $0.isValid && $0.kind == "webhookTest" && $0.sequence == 0 })
    }

    @Test func `with two secrets, the test event has a signature of each`() async throws {
        try receiver.write("an old secret of 16 bytes\na new secret of 16 bytes\n", "secret")
        #expect(try await test()?.failure == nil)
        let signature = try #require(receiver.deliveries.first?.signature)
        #expect(receiver.deliveries.first?.isValid == true && signature.split(separator: ",v1=").count == 3)
        #expect(WebhookTester(CurrentValue([try fixture.webhook(receiver)])).configured.first?.secretCount == 2)
    }

    @Test(arguments: [("fail", 500), ("redirect", 302)] as [(String, Int)])
    func `a status outside 200 to 299 is a failure`(mode: String, status: Int) async throws {
        try receiver.mode(mode)
        let result = try #require(try await test())
        #expect(result.status == status && result.failure?.contains("\(status)") == true, "\(result)")
    }

    @Test func `the result of a test has only the first 1,024 bytes of a long response`() async throws {
        try receiver.mode("flood")
        let result = try #require(try await test())
        #expect(result.status == 200 && result.failure == nil, "\(result)")
        #expect(result.responseBody == String(repeating: "x", count: 1_024))
    }

    @Test func `without a response the result says why`() async throws {
        try receiver.mode("hang")
        let hanging = try #require(try await test(attempt: .milliseconds(600)))
        #expect(hanging.status == nil && hanging.failure == "no response within the time limit", "\(hanging)")
        receiver.stop()
        let gone = try #require(try await test())
        #expect(gone.status == nil && gone.failure?.contains("refused") == true, "\(gone)")
    }

    @Test func `a webhook that the settings do not name has no result`() async throws {
        #expect(try await test("other") == nil)
        #expect(receiver.deliveries.isEmpty)
    }
}

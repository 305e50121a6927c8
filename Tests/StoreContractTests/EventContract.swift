import MerchantCore
import Testing
import Vocabulary

/// The contract of ``EventReading`` and ``EventWriting``.
@Suite struct EventContract {
    static let hook = WebhookRegistration(name: "hook", kinds: nil)

    @Test(arguments: StoreUnderTest.allCases)
    func `events are filtered by merchant, kind and severity, and start after a sequence or end with the newest`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.write { transaction in
            try transaction.append(Sample.event(.belowTarget, merchant: 1))
            try transaction.append(Sample.event(.keyPromoted, merchant: 2))
            try transaction.append(Sample.event(.keyPromoted))
        }
        func list(_ query: EventQuery) async throws -> [Int] {
            try await store.read { try $0.events(query).map(\.sequence) }
        }
        #expect(try await list(EventQuery(.after(0), limit: 9)) == [1, 2, 3])
        #expect(try await list(EventQuery(.after(1), limit: 1)) == [2])
        #expect(try await list(EventQuery(.newest, limit: 2)) == [2, 3])
        #expect(try await list(EventQuery(.after(0), kind: .keyPromoted, limit: 9)) == [2, 3])
        #expect(try await list(EventQuery(.after(0), merchants: [Sample.identifier(1)], limit: 9)) == [1])
        #expect(try await list(EventQuery(.after(0), severity: .critical, limit: 9)).isEmpty)
        let ids = try await store.read { try $0.events(EventQuery(.after(0), limit: 9)).map(\.id) }
        #expect(Set(ids).count == 3 && ids.allSatisfy { $0.count == 32 })
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an event keeps what Apple reported about a merchant token`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            try transaction.setWebhooks([Self.hook], at: Sample.time(0))
            for report in [Sample.report, Sample.emptyReport] {
                try transaction.append(
                    Event(
                        .merchantTokenMetadataUpdated, .notice, at: Sample.time(0), merchantToken: report,
                        detail: "detail"))
            }
            try transaction.append(Sample.event())
        }
        let found = try await store.read { try $0.events(EventQuery(.after(0), limit: 9)).map(\.event.merchantToken) }
        #expect(found == [Sample.report, Sample.emptyReport, nil])
        let delivery = try await store.read { try $0.nextDeliveries(to: "hook", limit: 1).first }
        #expect(delivery?.event.event.merchantToken == Sample.report)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a webhook gets the events of each lane one after the other`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            try transaction.setWebhooks([Self.hook], at: Sample.time(0))
            for merchant in [1, 1, 2] { try transaction.append(Sample.event(merchant: merchant)) }
        }
        func next() async throws -> [Int] {
            try await store.read { try $0.nextDeliveries(to: "hook", limit: 9).map(\.event.sequence) }
        }
        #expect(try await next() == [1, 3])
        try await store.write { try $0.markDelivered(1, to: "hook", at: Sample.time(1)) }
        #expect(try await next() == [2, 3])
        let state = try #require(try await store.webhook())
        #expect(state.undelivered == 2 && state.lastDelivered == Sample.time(1))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a failed delivery is due later or parked, and a parked one can be unparked`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        try await store.write { transaction in
            try transaction.setWebhooks([Self.hook], at: Sample.time(0))
            for _ in 0..<2 { try transaction.append(Sample.event(merchant: 1)) }
            try transaction.markFailed(1, to: "hook", because: "refused", next: Sample.time(60), at: Sample.time(1))
        }
        let pending = try await store.read { try $0.nextDeliveries(to: "hook", limit: 9) }
        let delivery = try #require(pending.first)
        #expect(delivery.failures == 1 && delivery.firstFailed == Sample.time(1) && delivery.due == Sample.time(60))
        try await store.write {
            try $0.markFailed(1, to: "hook", because: "refused again", next: nil, at: Sample.time(2))
        }
        var state = try #require(try await store.webhook())
        #expect(state.parked == 1 && state.undelivered == 1 && state.lastFailure == "refused again")
        #expect(try await store.read { try $0.nextDeliveries(to: "hook", limit: 9).map(\.event.sequence) } == [2])
        #expect(try await store.write { try $0.unparkDeliveries(of: 2, to: nil, limit: 9) } == 0)
        #expect(try await store.write { try $0.unparkDeliveries(of: nil, to: "hook", limit: 9) } == 1)
        state = try #require(try await store.webhook())
        #expect(state.parked == 0 && state.undelivered == 2)
        #expect(try await store.read { try $0.nextDeliveries(to: "hook", limit: 9).map(\.event.sequence) } == [1])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a webhook gets only its kinds, and only while the settings name it`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            try transaction.setWebhooks(
                [WebhookRegistration(name: "hook", kinds: [.keyPromoted])], at: Sample.time(0))
            try transaction.append(Sample.event(.belowTarget))
            try transaction.append(Sample.event(.keyPromoted))
            try transaction.setWebhooks([], at: Sample.time(1))
            try transaction.append(Sample.event(.keyPromoted))
        }
        #expect(try await store.read { try $0.webhooks().isEmpty })
        #expect(try await store.read { try $0.nextDeliveries(to: "hook", limit: 9).isEmpty })
        try await store.write { try $0.setWebhooks([Self.hook], at: Sample.time(2)) }
        #expect(try await store.read { try $0.nextDeliveries(to: "hook", limit: 9).map(\.event.sequence) } == [2])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `old events are removed unless they still wait for delivery to a webhook`(store: StoreUnderTest) async throws {
        let store = try store.open()
        try await store.write { transaction in
            try transaction.append(Sample.event(at: 1))
            try transaction.setWebhooks([Self.hook], at: Sample.time(0))
            try transaction.append(Sample.event(at: 2))
            try transaction.append(Sample.event(at: 9))
        }
        #expect(try await store.write { try $0.removeEvents(occurredBefore: Sample.time(5), limit: 9) } == 1)
        try await store.write { try $0.markDelivered(2, to: "hook", at: Sample.time(3)) }
        #expect(try await store.write { try $0.removeEvents(occurredBefore: Sample.time(5), limit: 9) } == 1)
        #expect(try await store.read { try $0.events(EventQuery(.after(0), limit: 9)).map(\.sequence) } == [3])
        try await store.write { try $0.append(Sample.event()) }
        #expect(try await store.read { try $0.events(EventQuery(.newest, limit: 1)).map(\.sequence) } == [4])
    }
}

extension OpenStore {
    fileprivate func webhook() async throws -> WebhookState? { try await read { try $0.webhooks().first } }
}

import Foundation
import GRDB
import MerchantCore
import MerchantTestSupport
import SQLiteStore
import Synchronization
import Testing
import Vocabulary

@Suite struct EventTests {
    let temporary: TemporaryStore
    var store: SQLiteStore { temporary.store }

    init() throws { temporary = try TemporaryStore() }

    private func append(_ merchants: Int?..., kind: Event.Kind = .belowTarget) async throws {
        let events = merchants.map { Sample.event(kind, merchant: $0.map(Sample.merchant)) }
        try await store.write { transaction in for event in events { try transaction.append(event) } }
    }

    private func setWebhooks(_ webhooks: WebhookRegistration...) async throws {
        try await store.write { try $0.setWebhooks(webhooks, at: Sample.time) }
    }

    private func next(_ webhook: String = "w", limit: Int = 100) throws -> [Int] {
        try store.readNow { try $0.nextDeliveries(to: webhook, limit: limit).map(\.event.sequence) }
    }

    private func state(_ webhook: String = "w") throws -> WebhookState? {
        try store.readNow { try $0.webhooks().first { $0.name == webhook } }
    }

    private func delivered(_ sequences: Int...) async throws {
        try await store.write { transaction in
            for sequence in sequences { try transaction.markDelivered(sequence, to: "w", at: Sample.time) }
        }
    }

    private func failed(_ sequence: Int, next: Timestamp?) async throws {
        try await store.write {
            try $0.markFailed(sequence, to: "w", because: "answered 500", next: next, at: Sample.time)
        }
    }

    @Test
    func `every field of an event is stored, each event has its own id, and a detail that is too long is truncated`()
        async throws
    {
        let long = Event(.keyRevoked, .critical, at: Sample.time, detail: String(repeating: "ä", count: 3_000))
        try await store.write { transaction in
            try transaction.append(Sample.event(merchant: Sample.merchant))
            try transaction.append(long)
        }
        let found = try store.readNow { try $0.events(after: nil, merchant: nil, limit: 9) }
        #expect(found.map(\.sequence) == [1, 2] && found[0].event == Sample.event(merchant: Sample.merchant))
        #expect(Set(found.map(\.id)).count == 2 && found.allSatisfy { $0.id.wholeMatch(of: /[0-9a-f]{32}/) != nil })
        #expect(found[1].event.detail == String(repeating: "ä", count: 2_048))
    }

    @Test func `a failed change stores no event, and the observer is notified after the commit`() async throws {
        let events = Mutex(0)
        struct Counter: EventObserver {
            let count: @Sendable () -> Void
            func eventsChanged() { count() }
        }
        let temporary = try TemporaryStore(observers: { path in
            StoreObservers(
                events: Counter {
                    // Another connection reads only what is committed.
                    let count = try? withSeparateConnection(to: path) {
                        try Int.fetchOne($0, sql: "SELECT count(*) FROM events")
                    }
                    events.withLock { $0 += count ?? 0 }
                })
        })
        let store = temporary.store
        let refusal = await refusal {
            try await store.write { transaction in
                try transaction.append(Sample.event())
                throw MerchantError(.malformed, "no")
            }
        }
        #expect(refusal?.code == .malformed && events.withLock { $0 } == 0)
        try await store.write { try $0.insert(Sample.record(Sample.merchant)) }
        #expect(events.withLock { $0 } == 0)
        try await store.write { try $0.append(Sample.event()) }
        #expect(events.withLock { $0 } == 1)
    }

    @Test func `events are filtered by merchant, kind and severity, and start after a sequence or end with the newest`()
        async throws
    {
        let kinds: [Event.Kind] = [.keyPromoted, .keyRevoked, .belowTarget]
        let severities: [Event.Severity] = [.notice, .warning]
        let all = (0..<60).map { number in
            Sample.event(
                kinds[number % 3], severities[number % 2], merchant: number % 5 == 4 ? nil : Sample.merchant(number % 4)
            )
        }
        try await store.write { transaction in for event in all { try transaction.append(event) } }
        let choices: [Set<MerchantIdentifier>?] = [
            nil, [Sample.merchant(1)], [Sample.merchant(0), Sample.merchant(3)], [],
        ]
        for merchants in choices {
            for kind in [nil, .keyRevoked] as [Event.Kind?] {
                for severity in [nil, .warning] as [Event.Severity?] {
                    let query = EventQuery(
                        .after(0), merchants: merchants, kind: kind, severity: severity, limit: 100)
                    let expected = all.indices.filter { query.matches(all[$0]) }.map { $0 + 1 }
                    func found(_ selection: EventQuery.Selection, _ limit: Int) throws -> [Int] {
                        var query = query
                        (query.selection, query.limit) = (selection, limit)
                        return try store.readNow { try $0.events(query).map(\.sequence) }
                    }
                    #expect(try found(.after(0), 100) == expected)
                    #expect(try found(.after(20), 3) == Array(expected.filter { $0 > 20 }.prefix(3)))
                    #expect(try found(.newest, 4) == expected.suffix(4))
                }
            }
        }
    }

    @Test func `an UPDATE of an event by another program is refused`() async throws {
        try await append(nil)
        #expect(throws: DatabaseError.self) {
            try temporary.withSeparateConnection { try $0.execute(sql: "UPDATE events SET detail = 'other'") }
        }
    }

    @Test func `a webhook gets the first undelivered event of each lane, and the next one after its delivery`()
        async throws
    {
        try await append(1)
        try await setWebhooks(WebhookRegistration(name: "w", kinds: nil))
        try await append(1, 2, nil, 1, 2, nil)
        #expect(try next() == [2, 3, 4] && next("unknown") == [])
        #expect(try state()?.undelivered == 6)
        try await delivered(2, 4)
        #expect(try next() == [3, 5, 7])
        try await failed(3, next: Sample.time.adding(.seconds(60)))
        // A failed event comes after the others, and its lane waits for it.
        #expect(try next() == [5, 7, 3])
        let delivery = try store.readNow { try $0.nextDeliveries(to: "w", limit: 9) }.last
        #expect(delivery?.failures == 1 && delivery?.firstFailed == Sample.time)
        #expect(delivery?.due == Sample.time.adding(.seconds(60)) && delivery?.lane == Sample.merchant(2).rawValue)
        try await delivered(3, 5, 6, 7)
        #expect(try next() == [] && state()?.undelivered == 0)
        #expect(try state()?.lastFailure == "answered 500" && state()?.lastDelivered == Sample.time)
    }

    @Test func `a parked event does not block its lane, and returns to its place when it is unparked`() async throws {
        try await setWebhooks(WebhookRegistration(name: "w", kinds: nil))
        try await append(1, 1, 2, 1)
        try await failed(1, next: nil)
        #expect(try next() == [2, 3])
        #expect(try state()?.parked == 1 && state()?.undelivered == 3)
        try await failed(2, next: nil)
        try await failed(3, next: nil)
        #expect(try next() == [4])
        func unpark(_ sequence: Int?, limit: Int = 10) async throws -> Int {
            try await store.write { try $0.unparkDeliveries(of: sequence, to: "w", limit: limit) }
        }
        #expect(try await unpark(2) == 1)
        #expect(try next() == [2])
        #expect(try await unpark(nil, limit: 1) == 1)
        #expect(try next() == [1] && state()?.parked == 1)
        #expect(try await unpark(nil) == 1)
        #expect(try await unpark(nil) == 0)
        #expect(try next() == [1, 3] && state()?.undelivered == 4 && state()?.parked == 0)
        let delivery = try store.readNow { try $0.nextDeliveries(to: "w", limit: 1) }.first
        #expect(delivery?.failures == 0 && delivery?.firstFailed == nil)
    }

    @Test(arguments: 0..<8)
    func `random deliveries, failures, parkings and unparkings keep each lane's order and the counts`(_ seed: Int)
        async throws
    {
        var random = SeededGenerator(seed: UInt64(seed))
        try await setWebhooks(WebhookRegistration(name: "w", kinds: nil))
        // For each merchant, its undelivered events: whether each is parked, by sequence.
        var lanes: [Int: [Int: Bool]] = [:]
        var last = 0
        for _ in 0..<200 {
            let merchant = Int.random(in: 0..<4, using: &random)
            let lane = lanes[merchant, default: [:]]
            let head = lane.filter { !$0.value }.keys.min()
            let parked = lane.filter(\.value).keys.sorted()
            switch (Int.random(in: 0..<5, using: &random), head) {
            case (0, let head?):
                try await delivered(head)
                lanes[merchant]?[head] = nil
            case (1, let head?): try await failed(head, next: Sample.time)
            case (2, let head?):
                try await failed(head, next: nil)
                lanes[merchant]?[head] = true
            case (3, _) where !parked.isEmpty:
                let sequence = parked[Int.random(in: 0..<parked.count, using: &random)]
                _ = try await store.write { try $0.unparkDeliveries(of: sequence, to: "w", limit: 1) }
                lanes[merchant]?[sequence] = false
            default:
                try await append(merchant)
                last += 1
                lanes[merchant, default: [:]][last] = false
            }
            let heads = lanes.values.compactMap { $0.filter { !$0.value }.keys.min() }
            #expect(try Set(next()) == Set(heads))
            let all = lanes.values.flatMap(\.values)
            #expect(try state()?.parked == all.count { $0 } && state()?.undelivered == all.count { !$0 })
        }
    }

    @Test
    func
        `a webhook gets events of its kinds; after its removal from the settings it keeps only its undelivered events`()
        async throws
    {
        try await setWebhooks(
            WebhookRegistration(name: "w", kinds: [.keyRevoked]), WebhookRegistration(name: "v", kinds: nil))
        try await append(1, kind: .keyRevoked)
        try await append(1, kind: .keyPromoted)
        #expect(try state("w")?.undelivered == 1 && state("v")?.undelivered == 2)
        try await setWebhooks(WebhookRegistration(name: "v", kinds: nil))
        try await append(2, kind: .keyRevoked)
        #expect(try state("w") == nil && next("w") == [] && state("v")?.undelivered == 3)
        try await setWebhooks(WebhookRegistration(name: "w", kinds: nil))
        #expect(try next("w") == [1])
    }

    @Test func `old events are removed in batches, except those that wait for delivery to a webhook`() async throws {
        try await setWebhooks(WebhookRegistration(name: "w", kinds: nil))
        let later = Sample.time.adding(.seconds(10))
        try await append(1, 1, 2, 3)
        try await store.write { try $0.append(Sample.event(merchant: Sample.merchant(1), at: later)) }
        try await delivered(1)
        try await failed(3, next: nil)
        func removed(before time: Timestamp, limit: Int = 100) async throws -> Int {
            try await store.write { try $0.removeEvents(occurredBefore: time, limit: limit) }
        }
        #expect(try await removed(before: Sample.time) == 0)
        // Removes the event 1, which was delivered, and then 3, which is parked.
        #expect(try await removed(before: later, limit: 1) == 1)
        #expect(try await removed(before: later) == 1)
        #expect(try store.readNow { try $0.events(after: nil, merchant: nil, limit: 9).map(\.sequence) } == [2, 4, 5])
        #expect(try state()?.undelivered == 3 && state()?.parked == 0)
        try await setWebhooks()
        #expect(try await removed(before: later) == 2)
        try await append(1)
        #expect(try store.readNow { try $0.events(after: nil, merchant: nil, limit: 9).map(\.sequence) } == [5, 6])
        let left = try temporary.withSeparateConnection {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM event_deliveries")
        }
        #expect(left == 1)
    }

    @Test func `key pairs in one state are listed in pages, oldest first`() async throws {
        for seed in 1...7 { try await temporary.onboard(seed == 4 ? Sample.merchant(1) : Sample.merchant, seed: seed) }
        try await store.write { transaction in
            guard var keyPair = try transaction.keyPair(Sample.hash(3)) else { return }
            keyPair.state = .revoked
            try transaction.update(keyPair)
        }
        var found: [PublicKeyHash] = []
        while true {
            let cursor = found.last
            let page = try store.readNow { try $0.keyPairs(in: .pending, after: cursor, limit: 2) }
            guard !page.isEmpty else { break }
            found += page.map(\.publicKeyHash)
        }
        #expect(found == [1, 2, 4, 5, 6, 7].map(Sample.hash))
        #expect(try store.readNow { try $0.keyPairs(in: .revoked, after: nil, limit: 9).count } == 1)
    }
}

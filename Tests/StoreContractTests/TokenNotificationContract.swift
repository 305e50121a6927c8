import MerchantCore
import Testing
import Vocabulary

/// The contract of ``TokenNotificationReading`` and ``TokenNotificationWriting``.
///
/// A lane is the queue of one merchant's notifications from one address. A notification is overtaken if it has failed
/// for so long that the later notifications of its lane no longer wait for it.
@Suite struct TokenNotificationContract {
    @Test(arguments: StoreUnderTest.allCases)
    func `a notification is stored once for its event and merchant, also after it was closed`(
        store: StoreUnderTest
    ) async throws {
        let store = try await store.openWithMerchants()
        #expect(try await store.notify(1, at: 5))
        #expect(try await !store.notify(1, from: "b", at: 6))
        #expect(try await store.notify(1, of: 1, at: 7))
        let found = try #require(try await store.notification(1))
        #expect(found.source == "a" && found.receivedAt == Sample.time(5) && found.state == .waiting)
        #expect(found.failures == 0 && found.firstFailedAt == nil && found.finding == nil)
        #expect(try await store.notification(1, of: 1)?.receivedAt == Sample.time(7))
        #expect(try await store.notification(2) == nil)
        try await store.attempt(1, .done, at: 8)
        #expect(try await !store.notify(1, at: 9))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an attempt changes only state, failures, their times and finding, and nothing of a closed notification`(
        store: StoreUnderTest
    ) async throws {
        let store = try await store.openWithMerchants()
        try await store.notify(1, at: 5)
        var changed = try #require(try await store.notification(1))
        (changed.failures, changed.firstFailedAt, changed.dueAt) = (2, Sample.time(6), Sample.time(9))
        changed.finding = "timed out"
        let failed = changed
        try await store.write { try $0.update(failed, at: Sample.time(8)) }
        #expect(try await store.notification(1) == failed)
        changed.state = .failed
        changed.finding = nil
        let closed = changed
        try await store.write { try $0.update(closed, at: Sample.time(9)) }
        #expect(try await store.notification(1) == closed)
        #expect(try await store.refusal { try $0.update(failed, at: Sample.time(9)) } == .internalError)
        #expect(try await store.notification(1) == closed)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the events of a lane are fetched in the order of arrival, and each lane has its own order`(
        store: StoreUnderTest
    ) async throws {
        let store = try await store.openWithMerchants()
        for event in 1...3 { try await store.notify(event, at: event) }
        try await store.notify(4, from: "b", at: 4)
        try await store.notify(5, of: 1, at: 5)
        #expect(try await store.next(at: 9) == [1, 4, 5])
        #expect(try await store.next(at: 9, limit: 2) == [1, 4])
        try await store.attempt(1, .done, at: 9)
        try await store.attempt(4, .unknown, at: 9)
        #expect(try await store.next(at: 9) == [5, 2])
        try await store.attempt(2, .failed, at: 10)
        #expect(try await store.next(at: 10) == [5, 3])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the lanes take turns, and lanes without a failure come first`(store: StoreUnderTest) async throws {
        let store = try await store.openWithMerchants()
        for (number, source) in ["a", "b", "c"].enumerated() {
            try await store.notify(2 * number, from: source, at: number)
            try await store.notify(2 * number + 1, from: source, at: number)
        }
        #expect(try await store.next(at: 9, limit: 1) == [0])
        try await store.attempt(0, .done, at: 9)
        #expect(try await store.next(at: 9) == [2, 4, 1])
        try await store.attempt(2, failing: .seconds(1), at: 10)
        #expect(try await store.next(at: 10) == [4, 1])
        #expect(try await store.next(at: 11) == [4, 1, 2])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `lanes of excluded merchants are left out, and do not count towards the limit`(
        store: StoreUnderTest
    ) async throws {
        let store = try await store.openWithMerchants()
        for event in 1...5 { try await store.notify(event, from: "address-\(event)", at: event) }
        try await store.notify(6, of: 1, at: 6)
        try await store.notify(7, of: 1, from: "b", at: 7)
        let (first, second, unknown) = (Sample.identifier(0), Sample.identifier(1), Sample.identifier(9))
        #expect(try await store.next(at: 9, limit: 2) == [1, 2])
        #expect(try await store.next(at: 9, excluding: [first], limit: 2) == [6, 7])
        #expect(try await store.next(at: 9, excluding: [second, unknown]) == [1, 2, 3, 4, 5])
        #expect(try await store.next(at: 9, excluding: [first, second]) == [])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a failing notification delays its lane until its next attempt, at most 10 minutes after its first failure`(
        store: StoreUnderTest
    ) async throws {
        let store = try await store.openWithMerchants()
        for event in 1...3 { try await store.notify(event, at: 0) }
        try await store.notify(4, from: "b", at: 0)
        try await store.attempt(1, failing: .seconds(599), at: 100)
        #expect(try await store.next(at: 698) == [4])
        #expect(try await store.next(at: 699) == [4, 1])
        // The next attempt is later than 10 minutes after the first failure.
        try await store.attempt(1, failing: .seconds(300), at: 699)
        #expect(try await store.next(at: 699) == [4])
        #expect(try await store.next(at: 700) == [4, 2])
        try await store.attempt(2, .done, at: 700)
        #expect(try await store.next(at: 700) == [4, 3])
        // The overtaken notification is fetched when it is due.
        try await store.attempt(3, .done, at: 701)
        #expect(try await store.next(at: 998) == [4])
        #expect(try await store.next(at: 999) == [4, 1])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a notification that arrives during a delay waits until the delay ends`(store: StoreUnderTest) async throws {
        let store = try await store.openWithMerchants()
        try await store.notify(1, at: 0)
        try await store.attempt(1, failing: .seconds(5000), at: 1)
        try await store.notify(2, at: 2)
        #expect(try await store.next(at: 600) == [])
        #expect(try await store.next(at: 601) == [2])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `an overtaken notification is not overtaken by those that arrive after it is due`(
        store: StoreUnderTest
    ) async throws {
        let store = try await store.openWithMerchants()
        for event in 1...3 { try await store.notify(event, at: 0) }
        try await store.attempt(1, failing: .seconds(1000), at: 0)
        try await store.notify(4, at: 1100)
        for expected in [2, 3] {
            #expect(try await store.next(at: 1200) == [expected])
            try await store.attempt(expected, .done, at: 1200)
        }
        #expect(try await store.next(at: 1200) == [1])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a lane takes its turn again after a delay has ended`(store: StoreUnderTest) async throws {
        let store = try await store.openWithMerchants()
        for event in 1...3 { try await store.notify(event, at: 0) }
        for event in 4...5 { try await store.notify(event, from: "b", at: 0) }
        try await store.attempt(1, failing: .seconds(5000), at: 0)
        try await store.attempt(2, .done, at: 700)
        try await store.attempt(4, .done, at: 701)
        #expect(try await store.next(at: 702) == [3, 5])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a clock that is set back does not delay a notification that has not failed`(
        store: StoreUnderTest
    ) async throws {
        let store = try await store.openWithMerchants()
        for event in 1...3 { try await store.notify(event, at: 1_000_000) }
        for event in 1...3 {
            #expect(try await store.next(at: 5) == [event])
            try await store.attempt(event, .done, at: 5)
        }
        // Nor does notification 5 wait for the overtaken notification 4.
        try await store.notify(4, at: 5)
        try await store.attempt(4, failing: .seconds(1000), at: 5)
        try await store.notify(5, at: 1_000_000)
        #expect(try await store.next(at: 700) == [5])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `waiting notifications are counted in total and by address`(store: StoreUnderTest) async throws {
        let store = try await store.openWithMerchants()
        #expect(try await store.queue() == TokenNotificationQueue(waiting: 0, oldest: nil))
        try await store.notify(1, at: 3)
        try await store.notify(2, of: 1, at: 2)
        try await store.notify(3, from: "b", at: 4)
        #expect(try await store.queue() == TokenNotificationQueue(waiting: 3, oldest: Sample.time(2)))
        #expect(try await store.read { try $0.waitingTokenNotifications(from: "a") } == 2)
        try await store.attempt(2, of: 1, .done, at: 9)
        try await store.attempt(1, failing: .seconds(9), at: 9)
        #expect(try await store.queue() == TokenNotificationQueue(waiting: 2, oldest: Sample.time(3)))
        #expect(try await store.read { try $0.waitingTokenNotifications(from: "a") } == 1)
        #expect(try await store.read { try $0.waitingTokenNotifications(from: "c") } == 0)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `closed notifications are removed by state and age, in batches, and waiting ones never`(
        store: StoreUnderTest
    ) async throws {
        let store = try await store.openWithMerchants()
        for event in 0...7 { try await store.notify(event, at: event) }
        for event in 0...5 { try await store.attempt(event, event % 2 == 0 ? .done : .unknown, at: 9) }
        func remove(_ states: Set<TokenNotification.State>, before seconds: Int, limit: Int = 9) async throws -> Int {
            try await store.write {
                try $0.removeTokenNotifications(in: states, receivedBefore: Sample.time(seconds), limit: limit)
            }
        }
        #expect(try await remove([.waiting, .failed], before: 99) == 0)
        #expect(try await remove([.unknown], before: 99, limit: 2) == 2)
        #expect(try await store.notification(3) == nil)
        #expect(try await store.notification(5) != nil)
        #expect(try await remove([.done, .unknown], before: 4) == 2)
        #expect(try await remove(Set(TokenNotification.State.allCases), before: 99) == 2)
        #expect(try await store.queue().waiting == 2)
        // A removed notification is new again, and comes after the others.
        #expect(try await store.notify(5, at: 100))
        let sequences = [try await store.notification(7)?.sequence, try await store.notification(5)?.sequence]
        #expect(try #require(sequences[0]) < #require(sequences[1]))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `the secret paths of a merchant are listed, newest first, and each finds its merchant`(
        store: StoreUnderTest
    ) async throws {
        let store = try await store.openWithMerchants()
        let paths = (0..<3).map { number in
            TokenNotificationPath(
                secret: String(repeating: "aZ0\(number)", count: 8), merchantIdentifier: Sample.identifier(number % 2),
                createdAt: Sample.time(number))
        }
        try await store.write { transaction in for path in paths { try transaction.insert(path) } }
        func list(_ merchant: Int) async throws -> [TokenNotificationPath] {
            try await store.read { try $0.tokenNotificationPaths(of: Sample.identifier(merchant)) }
        }
        #expect(try await list(0) == [paths[2], paths[0]])
        #expect(try await list(9) == [])
        #expect(try await store.read { try $0.tokenNotificationPath(paths[1].secret) } == paths[1])
        #expect(try await store.read { try $0.tokenNotificationPath(String(repeating: "b", count: 32)) } == nil)
        #expect(try await store.refusal { try $0.insert(paths[0]) } == .internalError)
    }
}

import MerchantCore
import MerchantTestSupport
import Testing
import Vocabulary

/// Random arrivals, attempts and removals, compared with a simple model of the rules.
@Suite struct TokenNotificationPropertyTests {
    @Test(arguments: StoreUnderTest.allCases, 0..<6)
    func `random operations keep the order of each lane, store each event once and block no lane too long`(
        store: StoreUnderTest, seed: Int
    ) async throws {
        let store = try await store.openWithMerchants()
        var random = SeededGenerator(seed: UInt64(seed))
        var model = NotificationModel()
        for _ in 0..<300 {
            model.now += Int.random(in: 0...3, using: &random) == 0 ? Int.random(in: 0...400, using: &random) : 0
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let (event, merchant) = (
                    Int.random(in: 0..<120, using: &random), Int.random(in: 0...1, using: &random)
                )
                let source = ["a", "b", "c"].randomElement(using: &random) ?? "a"
                let isNew = try await store.notify(event, of: merchant, from: source, at: model.now)
                #expect(isNew == model.insert(event, of: merchant, from: source))
            case 4..<9:
                let next = try await store.nextNotifications(at: model.now)
                model.check(next)
                guard let chosen = next.randomElement(using: &random) else { continue }
                let outcome = NotificationModel.Outcome.allCases.randomElement(using: &random) ?? .done
                try await store.store(model.attempt(chosen, outcome), at: model.now)
            default:
                let age = Int.random(in: 0...2000, using: &random)
                let time = Sample.time(model.now - age)
                let removed = try await store.write {
                    try $0.removeTokenNotifications(in: [.done, .unknown], receivedBefore: time, limit: 1000)
                }
                #expect(removed == model.remove([.done, .unknown], receivedBefore: time))
            }
            #expect(try await store.queue() == model.queue)
            #expect(try await store.read { try $0.waitingTokenNotifications(from: "a") } == model.waiting(from: "a"))
        }
        // Once Apple responds again, every notification is fetched.
        var rounds = 0
        while try await store.queue().waiting > 0, rounds < 1000 {
            rounds += 1
            model.now += 60
            let next = try await store.nextNotifications(at: model.now)
            model.check(next)
            for notification in next { try await store.store(model.attempt(notification, .done), at: model.now) }
        }
        #expect(try await store.queue().waiting == 0 && model.queue.waiting == 0)
    }
}

extension OpenStore {
    fileprivate func nextNotifications(at seconds: Int) async throws -> [TokenNotification] {
        try await read { try $0.nextTokenNotifications(dueAt: Sample.time(seconds), excluding: [], limit: 100) }
    }

    fileprivate func store(_ notification: TokenNotification, at seconds: Int) async throws {
        try await write { try $0.update(notification, at: Sample.time(seconds)) }
    }
}

/// The rules of the queue, without any index: a list of all notifications.
private struct NotificationModel {
    enum Outcome: CaseIterable { case done, unknown, failed, briefFailure, longFailure }

    struct Lane: Hashable {
        let merchant: MerchantIdentifier
        let source: String
    }

    var now = 0
    private var all: [TokenNotification] = []
    /// For each lane, the sequence of the notification whose first attempt was the latest.
    private var lastFirstAttempt: [Lane: Int] = [:]

    private var waiting: [TokenNotification] { all.filter { $0.state == .waiting } }

    var queue: TokenNotificationQueue {
        TokenNotificationQueue(waiting: waiting.count, oldest: waiting.map(\.receivedAt).min())
    }

    func waiting(from source: String) -> Int { waiting.count { $0.source == source } }

    private static func lane(_ notification: TokenNotification) -> Lane {
        Lane(merchant: notification.merchantIdentifier, source: notification.source)
    }

    mutating func insert(_ event: Int, of merchant: Int, from source: String) -> Bool {
        let (event, merchant) = (Sample.tokenEvent(event), Sample.identifier(merchant))
        guard !all.contains(where: { $0.eventIdentifier == event && $0.merchantIdentifier == merchant }) else {
            return false
        }
        // The store chooses the sequence, so the model compares arrivals by their place in the list.
        all.append(
            TokenNotification(
                sequence: 0, eventIdentifier: event, merchantIdentifier: merchant, source: source,
                receivedAt: Sample.time(now), dueAt: Sample.time(now)))
        return true
    }

    mutating func remove(_ states: Set<TokenNotification.State>, receivedBefore time: Timestamp) -> Int {
        let before = all.count
        all.removeAll { states.contains($0.state) && $0.receivedAt < time }
        return before - all.count
    }

    private func index(of notification: TokenNotification) -> Int? {
        all.firstIndex {
            $0.eventIdentifier == notification.eventIdentifier
                && $0.merchantIdentifier == notification.merchantIdentifier
        }
    }

    private func isDue(_ notification: TokenNotification) -> Bool {
        notification.failures == 0 || notification.dueAt <= Sample.time(now)
    }

    /// Whether later notifications of the lane no longer wait for this one at the time ``now``.
    private func isOvertaken(_ notification: TokenNotification) -> Bool {
        guard let end = notification.firstFailedAt?.adding(TokenNotification.longestLaneDelay) else { return false }
        return notification.dueAt >= end && end <= Sample.time(now)
    }

    /// Compares what the store returns with the rules.
    func check(_ next: [TokenNotification]) {
        let lanes = Dictionary(grouping: waiting, by: Self.lane)
        #expect(Set(next.map(Self.lane)).count == next.count, "two notifications of one lane")
        for notification in next {
            guard let index = index(of: notification) else {
                Issue.record("the notification \(notification) is not stored")
                continue
            }
            #expect(notification.state == .waiting && isDue(notification))
            #expect(all[index].dueAt == notification.dueAt && all[index].failures == notification.failures)
            let earlier = all[..<index].filter {
                $0.state == .waiting && Self.lane($0) == Self.lane(notification)
            }
            #expect(earlier.allSatisfy(isOvertaken), "an earlier notification of the lane must be fetched first")
        }
        // A lane may be left out only while no overtaken notification is due, and the first of the others is not due.
        let found = Set(next.map(Self.lane))
        for (lane, waiting) in lanes where !found.contains(lane) {
            let first = waiting.first { !isOvertaken($0) }
            #expect(first.map { !isDue($0) } ?? true, "the lane is blocked too long")
            #expect(!waiting.contains { isOvertaken($0) && isDue($0) })
        }
    }

    /// - Returns: the notification after the attempt.
    mutating func attempt(_ notification: TokenNotification, _ outcome: Outcome) -> TokenNotification {
        let lane = Self.lane(notification)
        if notification.failures == 0 {
            #expect(notification.sequence > lastFirstAttempt[lane] ?? 0, "first attempts have the order of arrival")
            lastFirstAttempt[lane] = notification.sequence
        }
        var changed = notification
        switch outcome {
        case .done: changed.state = .done
        case .unknown: changed.state = .unknown
        case .failed: changed.state = .failed
        case .briefFailure, .longFailure:
            changed.failures += 1
            changed.firstFailedAt = changed.firstFailedAt ?? Sample.time(now)
            changed.dueAt = Sample.time(now + (outcome == .briefFailure ? 50 : 700))
        }
        if let index = index(of: notification) { all[index] = changed }
        return changed
    }
}

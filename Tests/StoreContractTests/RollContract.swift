import MerchantCore
import Testing
import Vocabulary

/// The contract of ``RollReading`` and ``RollWriting``.
@Suite struct RollContract {
    /// Starts a roll from key pair 0 to key pair 1 of merchant 0.
    static func begin(_ store: OpenStore) async throws -> Roll {
        try await store.storeMerchant(0, .current, .pending)
        return try await store.write {
            try $0.insertRoll(
                of: Sample.identifier(0), algorithm: .ecV1, from: Sample.hash(0), to: Sample.hash(1), at: Sample.time(5)
            )
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a roll is open until it has an outcome`(store: StoreUnderTest) async throws {
        let store = try store.open()
        let roll = try await Self.begin(store)
        #expect(
            roll.from == Sample.hash(0) && roll.to == Sample.hash(1) && roll.startedAt == Sample.time(5) && roll.isOpen)
        #expect(try await store.read { try $0.openRoll(of: Sample.identifier(0), algorithm: .ecV1) } == roll)
        #expect(try await store.read { try $0.openRoll(of: Sample.identifier(0), algorithm: .rsaV1) } == nil)
        var ended = roll
        ended.outcome = .abandoned
        ended.endedAt = Sample.time(9)
        ended.reason = "changed plans"
        ended.remindAt = nil
        try await store.write { [ended] in try $0.update(ended) }
        #expect(try await store.read { try $0.roll(roll.number) } == ended)
        #expect(try await store.read { try $0.openRoll(of: Sample.identifier(0), algorithm: .ecV1) } == nil)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a merchant has at most one open roll of an algorithm`(store: StoreUnderTest) async throws {
        let store = try store.open()
        _ = try await Self.begin(store)
        let code = try await store.refusal {
            _ = try $0.insertRoll(
                of: Sample.identifier(0), algorithm: .ecV1, from: nil, to: Sample.hash(1), at: Sample.time(6))
        }
        #expect(code == .rollStateConflict)
        let unknown = Roll(
            number: 99, merchantIdentifier: Sample.identifier(0), algorithm: .ecV1, from: nil, to: Sample.hash(1),
            startedAt: Sample.time(0))
        #expect(try await store.refusal { try $0.update(unknown) } == .rollNotFound)
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `rolls are listed newest first, by merchant and by step`(store: StoreUnderTest) async throws {
        let store = try store.open()
        let first = try await Self.begin(store)
        try await store.storeMerchant(1, .current, .standby)
        let second = try await store.write {
            try $0.insertRoll(
                of: Sample.identifier(1), algorithm: .ecV1, from: Sample.hash(10), to: Sample.hash(11),
                at: Sample.time(6))
        }
        func list(_ merchant: Int?, _ step: RollFilter.Step?, before cursor: Int? = nil) async throws -> [Int] {
            try await store.read {
                try $0.rolls(
                    RollFilter(merchant: merchant.map(Sample.identifier), step: step), before: cursor, limit: 9
                ).map(\.number)
            }
        }
        #expect(try await list(nil, nil) == [second.number, first.number])
        #expect(try await list(nil, nil, before: second.number) == [first.number])
        #expect(try await list(1, .open) == [second.number])
        #expect(try await list(nil, .state(.started, quietCutoff: Sample.time(0))) == [first.number])
        #expect(try await list(nil, .state(.certificateStored, quietCutoff: Sample.time(0))) == [second.number])
        #expect(try await store.read { try $0.rollsWaitingLongest(limit: 1).map(\.number) } == [first.number])
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a promoted roll is quiet if it has been idle since the cutoff or longer`(store: StoreUnderTest) async throws {
        let store = try store.open()
        var roll = try await Self.begin(store)
        try await store.write { transaction in
            _ = try transaction.insert(Sample.certificate(1), of: Sample.hash(1))
            try transaction.update(Sample.keyPair(0, .retiring))
            try transaction.update(Sample.keyPair(1, .current))
        }
        let number = roll.number
        let stored = try await store.read { try $0.roll(number) }
        roll = try #require(stored)
        roll.idleSince = Sample.time(100)
        try await store.write { [roll] in try $0.update(roll) }
        try store.repository.readNow { reading throws in
            #expect(try reading.rollsIdleSince(notAfter: Sample.time(99), limit: 9).isEmpty)
            #expect(try reading.rollsIdleSince(notAfter: Sample.time(100), limit: 9).map(\.number) == [number])
            #expect(try reading.rollsIdleSince(after: Sample.time(99), limit: 9).map(\.number) == [number])
            #expect(try reading.rollsIdleSince(after: Sample.time(100), limit: 9).isEmpty)
            #expect(try reading.rollCounts(quietCutoff: Sample.time(100))[.quiet] == 1)
            #expect(try reading.rollCounts(quietCutoff: Sample.time(99))[.promoted] == 1)
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `reminders are due at their time, and finished rolls wait for their next key pair`(
        store: StoreUnderTest
    ) async throws {
        let store = try store.open()
        var roll = try await Self.begin(store)
        roll.remindAt = Sample.time(50)
        try await store.write { [roll] in try $0.update(roll) }
        #expect(try await store.read { try $0.rollsToRemind(at: Sample.time(49), limit: 9).isEmpty })
        #expect(try await store.read { try $0.rollsToRemind(at: Sample.time(50), limit: 9).count } == 1)
        roll.remindAt = nil
        roll.outcome = .finished
        roll.endedAt = Sample.time(60)
        try await store.write { [roll] in try $0.update(roll) }
        #expect(try await store.read { try $0.finishedRollsWithoutNextPair(limit: 9).map(\.number) } == [roll.number])
        roll.hasNextPair = true
        try await store.write { [roll] in try $0.update(roll) }
        #expect(try await store.read { try $0.finishedRollsWithoutNextPair(limit: 9).isEmpty })
    }
}

import LocalSocket
import Testing

@Suite struct SharesTests {
    private var shares = Shares(.init(total: 5, perUser: 3, withoutPermit: 1))

    @Test("one user cannot take what another user needs, nor callers without a permit what users need")
    mutating func shareEach() throws {
        for _ in 0..<3 { try shares.take(for: .user(uid: 1)) }
        #expect(throws: Shares.Exhausted.user(uid: 1)) { try shares.take(for: .user(uid: 1)) }
        try shares.take(for: .withoutPermit)
        #expect(throws: Shares.Exhausted.withoutPermit) { try shares.take(for: .withoutPermit) }
        try shares.take(for: .user(uid: 2))
        #expect(throws: Shares.Exhausted.total) { try shares.take(for: .user(uid: 2)) }
    }

    @Test("what was given back can be taken again, and only that")
    mutating func givenBack() throws {
        try shares.take(for: .withoutPermit)
        shares.giveBack(from: .withoutPermit)
        shares.giveBack(from: .withoutPermit)
        try shares.take(for: .withoutPermit)
        #expect(throws: Shares.Exhausted.withoutPermit) { try shares.take(for: .withoutPermit) }
        for _ in 0..<3 { try shares.take(for: .user(uid: 1)) }
        #expect(throws: Shares.Exhausted.user(uid: 1)) { try shares.take(for: .user(uid: 1)) }
    }

    @Test("an amount that does not fit is not taken in part")
    mutating func allOrNothing() throws {
        try shares.take(2, for: .user(uid: 1))
        #expect(throws: Shares.Exhausted.user(uid: 1)) { try shares.take(2, for: .user(uid: 1)) }
        try shares.take(3, for: .user(uid: 2))
        #expect(throws: Shares.Exhausted.total) { try shares.take(1, for: .user(uid: 1)) }
    }
}

import LocalSocket
import Testing

@Suite struct SharesTests {
    private var shares = Shares(.init(total: 5, perUser: 3, withoutPermit: 1))

    @Test("one user cannot use another user's share, and callers without a permit cannot use that of users")
    mutating func shareEach() throws {
        for _ in 0..<3 { try shares.take(for: .user(uid: 1)) }
        #expect(throws: Shares.Exhausted.user(uid: 1)) { try shares.take(for: .user(uid: 1)) }
        try shares.take(for: .withoutPermit)
        #expect(throws: Shares.Exhausted.withoutPermit) { try shares.take(for: .withoutPermit) }
        try shares.take(for: .user(uid: 2))
        #expect(throws: Shares.Exhausted.total) { try shares.take(for: .user(uid: 2)) }
    }

    @Test("only an amount that was returned can be taken again")
    mutating func givenBack() throws {
        try shares.take(for: .withoutPermit)
        shares.giveBack(from: .withoutPermit)
        shares.giveBack(from: .withoutPermit)
        try shares.take(for: .withoutPermit)
        #expect(throws: Shares.Exhausted.withoutPermit) { try shares.take(for: .withoutPermit) }
        for _ in 0..<3 { try shares.take(for: .user(uid: 1)) }
        #expect(throws: Shares.Exhausted.user(uid: 1)) { try shares.take(for: .user(uid: 1)) }
    }

    @Test("an amount that exceeds the share is not taken partly")
    mutating func allOrNothing() throws {
        try shares.take(2, for: .user(uid: 1))
        #expect(throws: Shares.Exhausted.user(uid: 1)) { try shares.take(2, for: .user(uid: 1)) }
        try shares.take(3, for: .user(uid: 2))
        #expect(throws: Shares.Exhausted.total) { try shares.take(1, for: .user(uid: 1)) }
    }
}

import LocalSocket
import Testing

@Suite struct UserQuotasTests {
    private var quotas = UserQuotas(.init(total: 5, perUser: 3, withoutPermit: 1))

    @Test("one user cannot use another user's share, and callers without a permit cannot use that of users")
    mutating func shareEach() throws {
        for _ in 0..<3 { try quotas.take(for: .user(uid: 1)) }
        #expect(throws: UserQuotas.Exhausted.user(uid: 1)) { try quotas.take(for: .user(uid: 1)) }
        try quotas.take(for: .withoutPermit)
        #expect(throws: UserQuotas.Exhausted.withoutPermit) { try quotas.take(for: .withoutPermit) }
        try quotas.take(for: .user(uid: 2))
        #expect(throws: UserQuotas.Exhausted.total) { try quotas.take(for: .user(uid: 2)) }
    }

    @Test("each client of the portal has a share of its own")
    mutating func shareEachClient() throws {
        for _ in 0..<3 { try quotas.take(for: .remote("access:a")) }
        #expect(throws: UserQuotas.Exhausted.remote("access:a")) { try quotas.take(for: .remote("access:a")) }
        try quotas.take(for: .remote("access:b"))
    }

    @Test("only an amount that was returned can be taken again")
    mutating func givenBack() throws {
        try quotas.take(for: .withoutPermit)
        quotas.giveBack(from: .withoutPermit)
        quotas.giveBack(from: .withoutPermit)
        try quotas.take(for: .withoutPermit)
        #expect(throws: UserQuotas.Exhausted.withoutPermit) { try quotas.take(for: .withoutPermit) }
        for _ in 0..<3 { try quotas.take(for: .user(uid: 1)) }
        #expect(throws: UserQuotas.Exhausted.user(uid: 1)) { try quotas.take(for: .user(uid: 1)) }
    }

    @Test("an amount that exceeds the share is not taken partly")
    mutating func allOrNothing() throws {
        try quotas.take(2, for: .user(uid: 1))
        #expect(throws: UserQuotas.Exhausted.user(uid: 1)) { try quotas.take(2, for: .user(uid: 1)) }
        try quotas.take(3, for: .user(uid: 2))
        #expect(throws: UserQuotas.Exhausted.total) { try quotas.take(1, for: .user(uid: 1)) }
    }
}

import LocalSocket
import Testing

@Suite struct BufferBudgetTests {
    private let budget = BufferBudget(.init(total: 100, perUser: 60, withoutPermit: 10))

    @Test("connections of one user share its bytes, and return them on request or when they end")
    func connectionsShare() throws {
        let first = BufferBudget.Reservation(of: budget, for: .user(uid: 1))
        var second: BufferBudget.Reservation? = BufferBudget.Reservation(of: budget, for: .user(uid: 1))
        try first.reserve(40)
        try second?.reserve(20)
        #expect(throws: UserQuotas.Exhausted.user(uid: 1)) { try first.reserve(1) }
        first.releaseAll()
        try first.reserve(40)
        #expect(throws: UserQuotas.Exhausted.user(uid: 1)) { try first.reserve(1) }
        second = nil
        try first.reserve(20)
    }

    @Test("callers without a permit cannot use the whole limit")
    func withoutPermit() throws {
        let untrusted = BufferBudget.Reservation(of: budget, for: .withoutPermit)
        try untrusted.reserve(10)
        #expect(throws: UserQuotas.Exhausted.withoutPermit) { try untrusted.reserve(1) }
        try BufferBudget.Reservation(of: budget, for: .user(uid: 1)).reserve(60)
    }
}

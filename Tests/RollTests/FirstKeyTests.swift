import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

/// Key pairs that were generated without a roll, such as a merchant's first one.
@Suite struct FirstKeyTests {
    static let day = Duration.seconds(86_400)
    let merchant = RealStore.merchant(1)

    /// A key pair with a certificate, without a roll.
    private func certifiedKey(_ real: RealStore, days: Int = 760) async throws -> PublicKeyHash {
        let hash = try await real.operations.keys.generateKeyPair(
            for: merchant, algorithm: nil, purpose: .paymentProcessing, for: RealStore.request
        ).keyPair.publicKeyHash
        try await real.certify(hash, of: merchant, days: days)
        return hash
    }

    private func addMerchant(_ real: RealStore) async throws {
        _ = try await real.operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: RealStore.request)
    }

    private func openRoll(_ real: RealStore) throws -> Roll? {
        try real.store.readNow { try $0.openRoll(of: merchant, algorithm: .ecV1) }
    }

    @Test func `if no key is current, the first token promotes a key without a roll, and the daemon renews the key`()
        async throws
    {
        let real = try RealStore()
        try await addMerchant(real)
        let key = try await certifiedKey(real, days: 100)
        try await real.requestKey(key)
        #expect(try real.state(key) == .standby, "a request does not promote")
        real.clock.advance(by: Self.day)
        let arrived = real.clock.now
        try await real.decryptToken(for: key)
        #expect(try real.state(key) == .current)
        #expect(try openRoll(real) == nil)
        #expect(try real.store.readNow { try $0.keyUse(of: key)?.promotionConfirmedAt } == arrived)
        let promotions = try await real.operations.audit.auditRecords(
            AuditFilter(merchant: merchant, key: key), from: nil, oldestFirst: false, limit: 9
        ).filter { $0.entry.action == .keyPromoted }
        #expect(promotions.count == 1 && promotions.first?.entry.reason != nil)
        real.clock.advance(by: Self.day * 60)
        _ = try await real.operations.renewals.runSchedule(as: RealStore.caller)
        #expect(try openRoll(real)?.from == key)
    }

    @Test func `of two keys without a roll, only a token for the newer certificate promotes`() async throws {
        let real = try RealStore()
        try await addMerchant(real)
        let older = try await certifiedKey(real)
        real.clock.advance(by: Self.day)
        let newer = try await certifiedKey(real)
        try await real.decryptToken(for: older)
        #expect(try real.state(older) == .standby)
        try await real.decryptToken(for: newer)
        #expect(try real.state(newer) == .current)
        try await real.decryptToken(for: older)
        let states = try [older, newer].map { try real.state($0) }
        #expect(states == [.standby, .current])
    }

    @Test func `a token for a key without a roll does not promote while another key's roll is open`() async throws {
        let real = try RealStore()
        try await addMerchant(real)
        let roll = try await real.startRoll(merchant)
        let other = try await certifiedKey(real)
        try await real.decryptToken(for: other)
        #expect(try real.state(other) == .standby)
        #expect(try openRoll(real)?.number == roll.roll.number)
    }

    @Test func `a token does not promote a key without a roll if the setting is off`() async throws {
        var policy = RollPolicy()
        policy.promotesOnFirstDecryption = false
        let real = try RealStore(policy: policy)
        try await addMerchant(real)
        let key = try await certifiedKey(real)
        try await real.decryptToken(for: key)
        #expect(try real.state(key) == .standby)
    }
}

import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// Tokens for a standby key pair that is not the new key of an open roll: see ``StandbyKeyUse``.
@Suite struct StandbyKeyUseTests {
    static let day = Duration.seconds(86_400)
    let merchant = RealStore.merchant(1)

    /// A key pair with a certificate, without a roll.
    private func certifiedKey(_ real: RealStore, days: Int = 760) async throws -> PublicKeyHash {
        real.clock.advance(by: Self.day)
        let hash = try await real.operations.keys.generateKeyPair(
            for: merchant, algorithm: nil, purpose: .paymentProcessing, for: RealStore.request
        ).keyPair.publicKeyHash
        try await real.certify(hash, of: merchant, days: days)
        return hash
    }

    /// A merchant whose current key and reserve key have certificates.
    private func merchantWithReserve(_ real: RealStore) async throws -> (current: PublicKeyHash, reserve: PublicKeyHash)
    {
        let current = try await real.onboard(merchant)
        try await real.decryptToken(for: current)
        let reserve = try await certifiedKey(real)
        real.clock.advance(by: Self.day)
        return (current, reserve)
    }

    /// The keys named by the events about the use of standby keys.
    private func keysInEvents(_ real: RealStore) async throws -> [PublicKeyHash?] {
        try await real.operations.events.events(EventQuery(.newest, kind: .standbyKeyUsed, limit: 99))
            .map(\.event.publicKeyHash)
    }

    /// The keys that the finding in `status` names.
    private func keysInFindings(_ real: RealStore) async throws -> [PublicKeyHash?] {
        let findings = try await real.operations.monitoring.status().findings.filter { $0.code == .standbyKeyUsed }
        #expect(findings.allSatisfy { $0.severity == .warning && $0.count == $0.mostUrgent.count })
        return findings.flatMap(\.mostUrgent).map(\.publicKeyHash)
    }

    private func nextStep(_ real: RealStore) async throws -> OnboardingProgress.Step? {
        try await real.operations.onboarding.progress(of: merchant, in: MerchantScope(merchants: nil)).next
    }

    @Test func `a token for a reserve key is reported once, until an admin promotes the key`() async throws {
        let real = try RealStore()
        let (current, reserve) = try await merchantWithReserve(real)
        #expect(try await keysInEvents(real) == [])
        #expect(try await keysInFindings(real) == [])
        #expect(try await nextStep(real) == nil)
        for _ in 0..<3 {
            try await real.decryptToken(for: reserve)
            real.clock.advance(by: Self.day)
        }
        #expect(try real.state(reserve) == .standby && real.state(current) == .current)
        #expect(try await keysInEvents(real) == [reserve])
        #expect(try await keysInFindings(real) == [reserve])
        let step = try #require(try await nextStep(real))
        #expect(step.waitingFor == .admin)
        _ = try await real.operations.transitions.promote(reserve, dryRun: false, for: RealStore.request)
        #expect(try await keysInFindings(real) == [])
        try await real.decryptToken(for: reserve)
        #expect(try await keysInEvents(real) == [reserve])
        #expect(try await keysInFindings(real) == [])
    }

    @Test func `a request for a reserve key raises no event and no finding`() async throws {
        let real = try RealStore()
        let (_, reserve) = try await merchantWithReserve(real)
        try await real.requestKey(reserve)
        #expect(try await keysInEvents(real) == [])
        #expect(try await keysInFindings(real) == [])
    }

    @Test func `a token for the current key ends the finding, and another switch raises another event`() async throws {
        let real = try RealStore()
        let (current, reserve) = try await merchantWithReserve(real)
        try await real.decryptToken(for: reserve)
        real.clock.advance(by: .seconds(60))
        try await real.decryptToken(for: current)
        #expect(try await keysInFindings(real) == [])
        #expect(try await nextStep(real) == nil)
        real.clock.advance(by: .seconds(60))
        try await real.decryptToken(for: reserve)
        #expect(try await keysInFindings(real) == [reserve])
        #expect(try await keysInEvents(real) == [reserve], "late tokens are not another switch")
        real.clock.advance(by: Self.day)
        try await real.decryptToken(for: current)
        real.clock.advance(by: .seconds(60))
        try await real.decryptToken(for: reserve)
        #expect(try await keysInEvents(real) == [reserve, reserve])
        #expect(try await keysInFindings(real) == [reserve])
    }

    @Test(arguments: [true, false])
    func `the new key of an open roll is not reported, any other standby key is`(promotes: Bool) async throws {
        var policy = RollPolicy()
        policy.promotesOnFirstDecryption = promotes
        let real = try RealStore(policy: policy)
        _ = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let new = try await real.startRoll(merchant).roll.to
        try await real.certify(new, of: merchant)
        let other = try await certifiedKey(real)
        real.clock.advance(by: Self.day)
        try await real.decryptToken(for: new)
        #expect(try real.state(new) == (promotes ? .current : .standby))
        #expect(try await keysInEvents(real) == [])
        #expect(try await keysInFindings(real) == [])
        real.clock.advance(by: Self.day)
        try await real.decryptToken(for: other)
        #expect(try real.state(other) == .standby)
        #expect(try await keysInEvents(real) == [other])
        #expect(try await keysInFindings(real) == [other])
    }

    @Test func `the next token for the key of an abandoned roll is reported`() async throws {
        var policy = RollPolicy()
        policy.promotesOnFirstDecryption = false
        let real = try RealStore(policy: policy)
        _ = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant).roll
        try await real.certify(roll.to, of: merchant)
        try await real.decryptToken(for: roll.to)
        _ = try await real.operations.rolls.abandonRoll(
            roll.number, reason: nil, dryRun: false, for: RealStore.request)
        try await real.decryptToken(for: roll.to)
        #expect(try await keysInEvents(real) == [roll.to])
        #expect(try await keysInFindings(real) == [roll.to])
        // From now on, the roll to this key reports the use.
        #expect(try await real.startRoll(merchant).roll.to == roll.to)
        #expect(try await keysInFindings(real) == [])
    }

    @Test func `without a current key, a token for a standby key is reported if tokens do not promote keys`()
        async throws
    {
        var policy = RollPolicy()
        policy.promotesOnFirstDecryption = false
        let real = try RealStore(policy: policy)
        _ = try await real.operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: RealStore.request)
        let key = try await certifiedKey(real)
        try await real.decryptToken(for: key)
        #expect(try await keysInEvents(real) == [key])
        #expect(try await keysInFindings(real) == [key])
        #expect(try await nextStep(real)?.waitingFor == .admin)
    }

    @Test func `a token for a key replaced outside of a roll is reported only after the quiet period`() async throws {
        let real = try RealStore()
        _ = try await real.operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: RealStore.request)
        let older = try await certifiedKey(real)
        let newer = try await certifiedKey(real)
        try await real.decryptToken(for: older)
        #expect(try await keysInEvents(real) == [older], "no key is current, and Apple encrypts to the older one")
        real.clock.advance(by: .seconds(60))
        try await real.decryptToken(for: newer)
        #expect(try real.state(newer) == .current)
        #expect(try await keysInFindings(real) == [])
        real.clock.advance(by: Self.day * 2)
        try await real.decryptToken(for: older)
        #expect(try await keysInEvents(real) == [older])
        #expect(try await keysInFindings(real) == [])
        real.clock.advance(by: Self.day * 6)
        try await real.decryptToken(for: older)
        #expect(try await keysInEvents(real) == [older, older])
        #expect(try await keysInFindings(real) == [older])
    }

    // MARK: Revocation

    private func warnings(_ real: RealStore, revoking hash: PublicKeyHash) async throws -> [String] {
        try await real.operations.transitions.revoke(hash, reason: "test", dryRun: true, for: RealStore.request)
            .warnings
    }

    @Test func `the revocation of a standby key in use names its last token, also one that is not stored yet`()
        async throws
    {
        let real = try RealStore()
        let (_, reserve) = try await merchantWithReserve(real)
        _ = try await certifiedKey(real)
        #expect(try await warnings(real, revoking: reserve) == [])
        let last = real.clock.now
        real.operations.observedUses.recordDecryption(reserve, at: last)
        #expect(try await warnings(real, revoking: reserve).count { $0.contains("\(last)") } == 1)
        try await real.operations.keyUses.storeUses(as: RealStore.caller)
        let inUse = try await warnings(real, revoking: reserve)
        #expect(inUse.count == 2 && inUse.count { $0.contains("\(last)") } == 1)
        _ = try await real.operations.transitions.revoke(
            reserve, reason: "test", dryRun: false, for: RealStore.request)
        let event = try await real.operations.events.events(EventQuery(.newest, kind: .keyRevoked, limit: 1)).last
        #expect(event?.event.severity == .warning)
        real.clock.advance(by: .seconds(60))
        let destruction = try await real.operations.transitions.destroy(
            reserve, after: nil, dryRun: true, for: RealStore.request)
        #expect(destruction.warnings.count { $0.contains("\(last)") } == 1)
    }

    @Test func `after the quiet period, the revocation of a standby key only warns of its last token`() async throws {
        let real = try RealStore()
        let (current, reserve) = try await merchantWithReserve(real)
        _ = try await certifiedKey(real)
        let last = real.clock.now
        try await real.decryptToken(for: reserve)
        real.clock.advance(by: Self.day * 8)
        try await real.decryptToken(for: current)
        let warnings = try await warnings(real, revoking: reserve)
        #expect(warnings.count == 1 && warnings[0].contains("\(last)"))
    }

    // MARK: Stored certificates

    @Test func `the event of a stored certificate asks for activation only if the certificate must be activated now`()
        async throws
    {
        let real = try RealStore()
        func detail(of hash: PublicKeyHash) async throws -> String {
            let events = try await real.operations.events.events(
                EventQuery(.newest, kind: .certificateStored, limit: 99))
            return try #require(events.last { $0.event.publicKeyHash == hash }).event.detail
        }
        let current = try await real.onboard(merchant)
        let new = try await real.startRoll(merchant).roll.to
        real.clock.advance(by: Self.day)
        try await real.certify(new, of: merchant)
        let reserve = try await certifiedKey(real)
        for hash in [current, new] {
            #expect(try await detail(of: hash).contains("; activate the certificate at Apple"))
        }
        let ofReserve = try await detail(of: reserve)
        #expect(ofReserve.contains("\(current)") && !ofReserve.contains("; activate the certificate at Apple"))
    }
}

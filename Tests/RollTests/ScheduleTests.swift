import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

/// Scheduled work of the daemon, checked by the events that it raises.
@Suite struct ScheduleTests {
    static let day = Duration.seconds(86_400)
    static let request = RealStore.request
    let repository = MemoryRepository()
    let clock = HandMovedClock()
    let merchant = RealStore.merchant(1)

    func operations(_ policy: RollPolicy = RollPolicy()) -> Operations {
        Operations(
            repository: repository, custodian: NamedKeysCustodian(), claims: MemoryClaimLedger(), clock: clock,
            environment: .sandbox, rolls: policy)
    }

    func key(_ operations: Operations, days: Int, promoted: Bool, purpose: KeyPurpose = .paymentProcessing)
        async throws -> PublicKeyHash
    {
        let hash = try await operations.keys.generateKeyPair(
            for: merchant, algorithm: nil, purpose: purpose, for: Self.request
        ).keyPair.publicKeyHash
        _ = try await operations.certificates.storeCertificate(
            NamedKeysCustodian.certificate(
                hash, of: merchant, from: clock.now, to: clock.now.adding(Self.day * days), purpose: purpose), for: nil,
            for: Self.request)
        if promoted { _ = try await operations.transitions.promote(hash, dryRun: false, for: Self.request) }
        return hash
    }

    /// Runs the schedule once a day.
    func pass(_ operations: Operations, days: Int) async throws {
        for _ in 0..<days {
            _ = try await operations.renewals.runSchedule(as: RealStore.caller)
            clock.advance(by: Self.day)
        }
    }

    @Test func `a certificate's expiry raises one event at each threshold, and the successor is prepared in time`()
        async throws
    {
        let operations = operations()
        _ = try await operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: Self.request)
        let hash = try await key(operations, days: 100, promoted: true)
        let end = clock.now.adding(Self.day * 100)
        try await pass(operations, days: 120)
        let ends = repository.events.filter {
            [.certificateExpiringSoon, .certificateExpired].contains($0.kind) && $0.publicKeyHash == hash
        }
        let daysLeft = ends.map { (end.millisecondsSince1970 - $0.occurredAt.millisecondsSince1970) / 86_400_000 }
        #expect(daysLeft == [60, 30, 15, 7, 1, 0])
        #expect(ends.map(\.severity) == [.notice, .warning, .warning, .critical, .critical, .critical])
        #expect(ends.last?.kind == .certificateExpired)
        let started = repository.events.filter { $0.kind == .rollStarted }
        #expect(started.count == 1)
        let lead = try #require(started.first).occurredAt
        #expect(end.adding(Self.day * -75) < lead && lead <= end.adding(Self.day * -59))
        let below = repository.events.filter { $0.kind == .belowTarget }.map(\.severity)
        #expect(below == [.warning, .critical])
    }

    @Test func `an identity certificate's expiry raises the same events and starts no roll`() async throws {
        let operations = operations()
        _ = try await operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: Self.request)
        let hash = try await key(operations, days: 100, promoted: true, purpose: .identity)
        try await pass(operations, days: 120)
        let ends = repository.events.filter {
            [.certificateExpiringSoon, .certificateExpired].contains($0.kind) && $0.publicKeyHash == hash
        }
        #expect(ends.map(\.severity) == [.notice, .warning, .warning, .critical, .critical, .critical])
        #expect(ends.allSatisfy { $0.detail.contains("identity certificate") })
        #expect(!repository.events.contains { $0.kind == .rollStarted || $0.kind == .belowTarget })
    }

    @Test func `a waiting roll raises a reminder every week`() async throws {
        let operations = operations()
        _ = try await operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: Self.request)
        _ = try await key(operations, days: 700, promoted: true)
        _ = try await operations.rolls.startRoll(of: merchant, algorithm: nil, for: Self.request)
        try await pass(operations, days: 30)
        let reminders = repository.events.filter { $0.kind == .rollWaiting }
        #expect(reminders.count == 4)
        #expect(reminders.allSatisfy { $0.severity == .warning && $0.detail.contains(RollParty.merchant.rawValue) })
    }

    @Test func `requests for a revoked key raise one event a day, those for an unknown key none`() async throws {
        let operations = operations()
        _ = try await operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: Self.request)
        let hash = try await key(operations, days: 700, promoted: true)
        _ = try? operations.paymentTokens.resolveNow(hash)
        clock.advance(by: .seconds(1))
        _ = try await operations.transitions.revoke(hash, reason: "compromised", dryRun: false, for: Self.request)
        func alarms() -> Int { repository.events.count { $0.kind == .revokedKeyRequested } }
        try await operations.keyUses.storeUses(as: RealStore.caller)
        #expect(alarms() == 0, "the request came before the revocation")
        for hour in 0..<48 {
            clock.advance(by: .seconds(3600))
            for _ in 0..<10 { _ = try? operations.paymentTokens.resolveNow(hash) }
            _ = try? operations.paymentTokens.resolveNow(PublicKeyHash(of: [UInt8(hour)]))
            try await operations.keyUses.storeUses(as: RealStore.caller)
        }
        #expect(alarms() == 2)
    }

    @Test func `the daemon finishes a quiet roll only if the setting allows it`() async throws {
        for finishes in [false, true] {
            var policy = RollPolicy()
            policy.finishesWhenQuiet = finishes
            let real = try RealStore(policy: policy)
            let old = try await real.onboard(merchant)
            real.clock.advance(by: Self.day)
            let roll = try await real.startRoll(merchant)
            try await real.certify(roll.roll.to, of: merchant)
            try await real.decryptToken(for: roll.roll.to)
            for _ in 0..<9 {
                _ = try await real.operations.renewals.runSchedule(as: RealStore.caller)
                real.clock.advance(by: Self.day)
            }
            #expect(try real.state(old) == (finishes ? .revoked : .retiring))
        }
    }

    @Test func `an exported old key is never revoked by the schedule`() async throws {
        var policy = RollPolicy()
        policy.finishesWhenQuiet = true
        let real = try RealStore(policy: policy)
        let old = try await real.onboard(merchant)
        _ = try await real.operations.paymentTokens.exportPrivateKey(old, for: RealStore.request)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant)
        try await real.certify(roll.roll.to, of: merchant)
        try await real.decryptToken(for: roll.roll.to)
        for _ in 0..<40 {
            _ = try await real.operations.renewals.runSchedule(as: RealStore.caller)
            real.clock.advance(by: Self.day)
        }
        #expect(try real.state(old) == .retiring)
        _ = try await real.operations.rolls.finishRoll(
            roll.roll.number, evenIfNotQuiet: true, reason: "no copy is left", dryRun: false, for: RealStore.request)
        #expect(try real.state(old) == .revoked)
    }
}

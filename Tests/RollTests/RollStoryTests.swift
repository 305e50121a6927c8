import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Testing
import Vocabulary

/// Rolls on the real store, step by step.
@Suite struct RollStoryTests {
    static let day = Duration.seconds(86_400)
    let merchant = RealStore.merchant(1)
    let real: RealStore

    init() throws { real = try RealStore() }

    @Test
    func `a roll goes through its states: a decrypted token promotes the new key, and only a quiet old key is revoked`()
        async throws
    {
        let old = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant)
        let again = try await real.operations.rolls.startRoll(of: merchant, algorithm: .ecV1, for: RealStore.request)
        #expect(!again.isNew && again.view.roll.number == roll.roll.number)
        #expect(roll.progress.state == .started && roll.progress.waitingFor == .merchant && roll.roll.from == old)
        let new = roll.roll.to
        #expect(await refusal { try await finish(roll) } == .rollStateConflict)

        try await real.certify(new, of: merchant)
        for _ in 0..<100 { try await real.requestKey(new) }
        #expect(try real.state(new) == .standby, "a request does not promote")
        try await real.decryptToken(for: new)
        #expect(try real.state(new) == .current)
        #expect(try real.state(old) == .retiring)
        let promotion = try #require(
            try await real.operations.audit.auditRecords(
                AuditFilter(merchant: merchant, key: new), from: nil, oldestFirst: false, limit: 9
            )
            .first { $0.entry.action == .keyPromoted })
        #expect(promotion.entry.reason != nil)

        real.clock.advance(by: Self.day * 6)
        try await real.decryptToken(for: old)
        real.clock.advance(by: Self.day * 6)
        #expect(await refusal { try await finish(roll) } == .rollNotQuiet)
        #expect(try await state(roll) == .promoted)
        #expect(await refusal { try await finish(roll, evenIfNotQuiet: true) } == .malformed)
        let plan = try await real.operations.rolls.finishRoll(
            roll.roll.number, evenIfNotQuiet: true, reason: "leaked", dryRun: true, for: RealStore.request)
        #expect(
            plan.transitions.map(\.publicKeyHash) == [old] && !plan.warnings.isEmpty)
        #expect(try real.state(old) == .retiring)
        real.clock.advance(by: Self.day)
        #expect(try await state(roll) == .quiet)
        // Requested just now; the use is not stored yet.
        real.operations.observedUses.recordRequest(old, at: real.clock.now)
        #expect(await refusal { try await finish(roll) } == .rollNotQuiet)
        try await real.operations.keyUses.storeUses(as: RealStore.request.caller)
        #expect(try await state(roll) == .promoted)
        real.clock.advance(by: Self.day * 7)
        let finished = try await forceFinish(roll, dryRun: false)
        #expect(try real.state(old) == .revoked)
        #expect(try await state(roll) == .finished)
        try await finish(roll)
        let prepared = try await real.operations.keys.keyPairs(of: merchant).filter { $0.keyPair.state == .pending }
        #expect(prepared.count == 1, "the key pair for the next roll")
        #expect(finished.nextKeyPairs == 1 && finished.generatedKeyPairs == prepared.map(\.keyPair.publicKeyHash))
    }

    private func forceFinish(_ roll: RollView, dryRun: Bool) async throws -> RollTransitionResult {
        try await real.operations.rolls.finishRoll(
            roll.roll.number, evenIfNotQuiet: true, reason: "test", dryRun: dryRun, for: RealStore.request)
    }

    @Test func `a dry run says how many key pairs finishing a roll generates, and generates none`() async throws {
        _ = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant)
        try await real.certify(roll.roll.to, of: merchant)
        try await real.decryptToken(for: roll.roll.to)
        let before = try await real.operations.keys.keyPairs(of: merchant).count
        let plan = try await forceFinish(roll, dryRun: true)
        #expect(plan.nextKeyPairs == 1 && plan.generatedKeyPairs == nil)
        #expect(try await real.operations.keys.keyPairs(of: merchant).count == before)
        let done = try await forceFinish(roll, dryRun: false)
        #expect(done.nextKeyPairs == 1 && done.generatedKeyPairs?.count == 1)
        let again = try await forceFinish(roll, dryRun: false)
        #expect(again.nextKeyPairs == 0 && again.generatedKeyPairs == [])
        #expect(try await real.operations.keys.keyPairs(of: merchant).count == before + 1)
    }

    @Test func `the restore of a key warns if it starts a roll, also in a dry run`() async throws {
        let old = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant)
        try await real.certify(roll.roll.to, of: merchant)
        try await real.decryptToken(for: roll.roll.to)
        _ = try await forceFinish(roll, dryRun: false)
        for dryRun in [true, false] {
            let restored = try await real.operations.transitions.restore(old, dryRun: dryRun, for: RealStore.request)
            #expect(
                restored.warnings.contains { $0.contains("starts a roll") && $0.contains("\(old)") },
                "\(restored.warnings)")
        }
        #expect(try await openRollNumber() != nil)
    }

    @Test func `after a restore of the database the waiting times of rolls and destructions start again`() async throws
    {
        let old = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant)
        try await real.certify(roll.roll.to, of: merchant)
        try await real.decryptToken(for: roll.roll.to)
        let doomed = try await real.onboard(RealStore.merchant(2))
        _ = try await real.operations.transitions.revoke(
            doomed, reason: "compromised", dryRun: false, for: RealStore.request)
        _ = try await real.operations.transitions.destroy(
            doomed, after: Self.day, dryRun: false, for: RealStore.request)
        real.clock.advance(by: Self.day * 8)
        #expect(try await state(roll) == .quiet)
        // Simulates a restore of this database: what happened since the backup is unknown.
        let now = real.clock.now
        try await real.store.write {
            try WaitingTimesAfterRestore.restart(at: now, exported: [old], in: $0)
        }
        #expect(try await state(roll) == .promoted)
        #expect(await refusal { try await finish(roll) } == .rollNotQuiet)
        #expect(try await real.operations.transitions.destroyDueKeyPairs(as: RealStore.request.caller) == 0)
        #expect(try await real.operations.keys.keyPair(old).keyPair.exportedAt == now)
        real.clock.advance(by: KeyTransitionOperations.defaultDestructionWait)
        #expect(try await real.operations.transitions.destroyDueKeyPairs(as: RealStore.request.caller) == 1)
        #expect(try real.state(doomed) == .destroyed)
    }

    @Test func `a token for a key outside a roll does not replace the current key; a roll needs a newer certificate`()
        async throws
    {
        _ = try await real.onboard(merchant)
        let stray = try await real.operations.keys.generateKeyPair(
            for: merchant, algorithm: nil, purpose: .paymentProcessing, for: RealStore.request
        ).keyPair.publicKeyHash
        try await real.certify(stray, of: merchant)
        try await real.decryptToken(for: stray)
        #expect(try real.state(stray) == .standby)
        // Its certificate is not newer than the current one, so the roll generates another key pair.
        let roll = try await real.startRoll(merchant)
        #expect(roll.roll.to != stray)
    }

    @Test func `the switch to a new key is one event, even if an earlier use is stored after the promotion`()
        async throws
    {
        _ = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let new = try await real.startRoll(merchant).roll.to
        try await real.certify(new, of: merchant)
        // The daemon stores the uses of a few seconds at once.
        real.operations.observedUses.recordDecryption(new, at: real.clock.now)
        real.clock.advance(by: .seconds(1))
        _ = try await real.operations.transitions.promote(new, dryRun: false, for: RealStore.request)
        try await real.operations.keyUses.storeUses(as: RealStore.request.caller)
        func count() throws -> Int {
            try real.store.readNow { try $0.events(after: nil, merchant: nil, limit: 100) }
                .count { $0.event.kind == .switchObserved && $0.event.publicKeyHash == new }
        }
        #expect(try count() == 0, "the token does not confirm the promotion")
        for _ in 0..<2 {
            real.clock.advance(by: .seconds(1))
            try await real.decryptToken(for: new)
            #expect(try count() == 1)
        }
    }

    @Test func `a decrypted token does not promote if the setting is off`() async throws {
        var policy = RollPolicy()
        policy.promotesOnFirstDecryption = false
        let real = try RealStore(policy: policy)
        _ = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let new = try await real.startRoll(merchant).roll.to
        try await real.certify(new, of: merchant)
        try await real.decryptToken(for: new)
        #expect(try real.state(new) == .standby)
    }

    @Test func `a repeated promotion needs another token before the old key is revoked`() async throws {
        let old = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant)
        let new = roll.roll.to
        try await real.certify(new, of: merchant)
        try await real.decryptToken(for: new)
        #expect(try real.state(new) == .current)
        // After a problem the old key is activated at Apple again, and promoted.
        real.clock.advance(by: Self.day)
        _ = try await real.operations.transitions.promote(old, dryRun: false, for: RealStore.request)
        // A late token for the new key does not show what Apple encrypts to now.
        try await real.decryptToken(for: new)
        real.clock.advance(by: Self.day * 30)
        _ = try await real.operations.transitions.promote(new, dryRun: false, for: RealStore.request)
        real.clock.advance(by: Self.day * 40)
        #expect(try await state(roll) == .promoted)
        #expect(await refusal { try await finish(roll) } == .rollNotQuiet)
        #expect(try real.state(old) == .retiring)
        try await real.decryptToken(for: new)
        #expect(try await state(roll) == .quiet)
        try await finish(roll)
        #expect(try real.state(old) == .revoked)
    }

    @Test func `the token that promotes a key confirms the promotion, a token before a promotion by an admin does not`()
        async throws
    {
        var policy = RollPolicy()
        policy.promotesOnFirstDecryption = false
        for automatic in [true, false] {
            let real = automatic ? self.real : try RealStore(policy: policy)
            _ = try await real.onboard(merchant)
            real.clock.advance(by: Self.day)
            let roll = try await real.startRoll(merchant)
            try await real.certify(roll.roll.to, of: merchant)
            let arrived = real.clock.now
            real.operations.observedUses.recordDecryption(roll.roll.to, at: arrived)
            // Uses are stored some seconds late.
            real.clock.advance(by: .seconds(5))
            try await real.operations.keyUses.storeUses(as: RealStore.caller)
            if !automatic {
                _ = try await real.operations.transitions.promote(roll.roll.to, dryRun: false, for: RealStore.request)
            }
            real.clock.advance(by: Self.day * 7)
            let use = try real.store.readNow { try $0.keyUse(of: roll.roll.to) }
            #expect(use?.promotionConfirmedAt == (automatic ? arrived : nil))
            let progress = try await real.operations.rolls.roll(roll.roll.number).progress
            #expect(progress.state == (automatic ? .quiet : .promoted))
        }
    }

    @Test func `a key without a roll keeps the time of the first decryption since its promotion for a later roll`()
        async throws
    {
        let old = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant)
        let new = roll.roll.to
        try await real.certify(new, of: merchant)
        _ = try await real.operations.transitions.promote(new, dryRun: false, for: RealStore.request)
        _ = try await real.operations.transitions.revoke(old, reason: "by hand", dryRun: false, for: RealStore.request)
        #expect(try await openRollNumber() == nil)
        let promoted = real.clock.now
        // Stored in one write: one use before the promotion, one after it.
        real.operations.observedUses.recordDecryption(new, at: promoted.adding(.seconds(-1)))
        real.operations.observedUses.recordDecryption(new, at: promoted.adding(.seconds(4)))
        real.clock.advance(by: .seconds(5))
        try await real.operations.keyUses.storeUses(as: RealStore.caller)
        real.clock.advance(by: Self.day)
        try await real.decryptToken(for: new)
        #expect(
            try real.store.readNow { try $0.keyUse(of: new)?.promotionConfirmedAt } == promoted.adding(.seconds(4)))
        // A restored key is retiring in a new roll, which needs no other token.
        _ = try await real.operations.transitions.restore(old, dryRun: false, for: RealStore.request)
        real.clock.advance(by: Self.day * 7)
        let restored = try await real.operations.rolls.roll(try #require(try await openRollNumber()))
        #expect(restored.progress.state == .quiet)
    }

    @Test func `transitions by an admin keep the roll consistent`() async throws {
        let old = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let first = try await real.startRoll(merchant)
        // Revoking the new key abandons the roll.
        _ = try await real.operations.transitions.revoke(
            first.roll.to, reason: "no", dryRun: false, for: RealStore.request)
        #expect(try await state(first) == .abandoned)
        let second = try await real.startRoll(merchant)
        try await real.certify(second.roll.to, of: merchant)
        _ = try await real.operations.transitions.promote(second.roll.to, dryRun: false, for: RealStore.request)
        #expect(try await state(second) == .promoted)
        // Promoting the old key and the new one again continues the same roll.
        _ = try await real.operations.transitions.promote(old, dryRun: false, for: RealStore.request)
        #expect(try await state(second) == .certificateStored)
        #expect(try await openRollNumber() == second.roll.number)
        _ = try await real.operations.transitions.promote(second.roll.to, dryRun: false, for: RealStore.request)
        #expect(await refusal { try await abandon(second) } == .rollStateConflict)
        _ = try await real.operations.transitions.revoke(old, reason: "by hand", dryRun: false, for: RealStore.request)
        #expect(try await state(second) == .finished)
        // A restored key is retiring in a new roll.
        _ = try await real.operations.transitions.restore(old, dryRun: false, for: RealStore.request)
        let third = try #require(try await openRollNumber())
        let view = try await real.operations.rolls.roll(third)
        #expect(view.roll.from == old && view.roll.to == second.roll.to && view.progress.state == .promoted)
    }

    @Test func `a promotion without a roll starts one, and the promotion of a third key abandons the open one`()
        async throws
    {
        let old = try await real.onboard(merchant)
        var others: [PublicKeyHash] = []
        for _ in 0..<2 {
            real.clock.advance(by: Self.day)
            let hash = try await real.operations.keys.generateKeyPair(
                for: merchant, algorithm: nil, purpose: .paymentProcessing, for: RealStore.request
            ).keyPair.publicKeyHash
            try await real.certify(hash, of: merchant)
            others.append(hash)
        }
        _ = try await real.operations.transitions.promote(others[0], dryRun: false, for: RealStore.request)
        let first = try await real.operations.rolls.roll(try #require(try await openRollNumber()))
        #expect(first.roll.from == old && first.roll.to == others[0])
        _ = try await real.operations.transitions.promote(others[1], dryRun: false, for: RealStore.request)
        #expect(try await state(first) == .abandoned)
        let second = try await real.operations.rolls.roll(try #require(try await openRollNumber()))
        #expect(second.roll.from == others[0] && second.roll.to == others[1])
    }

    @Test func `a revocation of a compromised key lists its consequences, also in a dry run`() async throws {
        let old = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant)
        try await real.certify(roll.roll.to, of: merchant)
        for dryRun in [true, false] {
            let transitions = try await real.operations.transitions.revoke(
                old, reason: "compromised", dryRun: dryRun, for: RealStore.request)
            for value in ["0A", "\(roll.roll.to)", "410", "key destroy"] {
                #expect(transitions.warnings.contains { $0.contains(value) }, "\(value): \(transitions.warnings)")
            }
        }
        // The roll stays open and finishes when its key is used, because no old key is left.
        #expect(try await state(roll) == .certificateStored)
        try await real.decryptToken(for: roll.roll.to)
        #expect(try await state(roll) == .finished)
    }

    @Test func `a roll is not finished while a use of its old key is being stored`() async throws {
        let old = try await real.onboard(merchant)
        real.clock.advance(by: Self.day)
        let roll = try await real.startRoll(merchant)
        try await real.certify(roll.roll.to, of: merchant)
        try await real.decryptToken(for: roll.roll.to)
        real.clock.advance(by: Self.day * 7)
        #expect(try await state(roll) == .quiet)
        let held = HeldRepository(real.store)
        let operations = Operations(
            repository: held, custodian: NamedKeysCustodian(), claims: MemoryClaimLedger(), clock: real.clock,
            environment: .sandbox)
        operations.observedUses.counter(for: old).record(at: real.clock.now)
        let storing = Task { try await operations.keyUses.storeUses(as: RealStore.caller) }
        await held.firstRead()
        #expect(
            await refusal {
                _ = try await operations.rolls.finishRoll(
                    roll.roll.number, evenIfNotQuiet: false, reason: nil, dryRun: true, for: RealStore.request)
            } == .rollNotQuiet)
        held.release()
        #expect(try await storing.value == 1)
        #expect(try real.state(old) == .retiring)
        #expect(try await state(roll) == .promoted)
        real.clock.advance(by: Self.day * 7)
        _ = try await operations.rolls.finishRoll(
            roll.roll.number, evenIfNotQuiet: false, reason: nil, dryRun: false, for: RealStore.request)
        #expect(try real.state(old) == .revoked, "stored uses are read from the store")
    }

    @Test func `uses are counted by kind, and those that could not be stored are kept`() async throws {
        let hash = try await real.onboard(merchant)
        let counter = real.operations.observedUses.counter(for: hash)
        let first = real.clock.now
        for _ in 0..<5 {
            counter.record(at: real.clock.now)
            real.clock.advance(by: .seconds(1))
        }
        try await real.requestKey(hash)
        try await real.decryptToken(for: hash)
        let use = try #require(try await real.operations.keys.keyPair(hash).use)
        #expect(use.requests?.count == 6 && use.decryptions?.count == 1)
        #expect(use.requests?.first == first && use.requests?.last == real.clock.now)
        counter.record(at: real.clock.now)
        try real.store.close()
        #expect(
            await refusal { try await real.operations.keyUses.storeUses(as: RealStore.caller) } == .storeUnavailable)
        #expect(
            await refusal { try await real.operations.keyUses.storeUses(as: RealStore.caller) } == .storeUnavailable)
    }

    @Test func `uses that are recorded while uses are being stored are all counted`() async throws {
        let hash = try await real.onboard(merchant)
        let counter = real.operations.observedUses.counter(for: hash)
        await withTaskGroup { tasks in
            for _ in 0..<4 {
                tasks.addTask { for _ in 0..<20_000 { counter.record(at: real.clock.now) } }
            }
            tasks.addTask { for _ in 0..<50 { _ = try? await real.operations.keyUses.storeUses(as: RealStore.caller) } }
        }
        try await real.operations.keyUses.storeUses(as: RealStore.caller)
        #expect(try await real.operations.keys.keyPair(hash).use?.requests?.count == 80_000)
    }

    private func finish(_ view: RollView, evenIfNotQuiet: Bool = false) async throws {
        _ = try await real.operations.rolls.finishRoll(
            view.roll.number, evenIfNotQuiet: evenIfNotQuiet, reason: nil, dryRun: false, for: RealStore.request)
    }

    private func abandon(_ view: RollView) async throws {
        _ = try await real.operations.rolls.abandonRoll(
            view.roll.number, reason: nil, dryRun: false, for: RealStore.request)
    }

    private func state(_ view: RollView) async throws -> RollState {
        try await real.operations.rolls.roll(view.roll.number).progress.state
    }

    private func openRollNumber() async throws -> Int? {
        try await real.operations.rolls.rolls(of: merchant, state: .open, before: nil, limit: 9).first?.roll.number
    }
}

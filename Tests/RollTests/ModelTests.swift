import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Synchronization
import Testing
import Vocabulary

/// Random operations of concurrent clients on the real store. The design's invariants hold after each round.
@Suite struct ModelTests {
    static let merchants = (0..<3).map(RealStore.merchant)

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `random operations violate no invariant`(seed: UInt64) async throws {
        var policy = RollPolicy()
        policy.finishesWhenQuiet = seed.isMultiple(of: 2)
        let real = try RealStore(policy: policy)
        for merchant in Self.merchants { _ = try await real.onboard(merchant) }
        let decryptions = Decryptions()
        var done: [String: Int] = [:]
        for round in 0..<25 {
            let results = await withTaskGroup { tasks in
                for client in 0..<4 {
                    tasks.addTask {
                        var generator = SeededGenerator(seed: seed << 32 | UInt64(round) << 8 | UInt64(client))
                        var done: [String: Int] = [:]
                        for _ in 0..<12 {
                            let (name, error) = await Self.act(real, decryptions, &generator)
                            if error == nil { done[name, default: 0] += 1 }
                            if let error { Self.checkIsRefusal(error, name) }
                        }
                        return done
                    }
                }
                return await tasks.reduce(into: [String: Int]()) { $0.merge($1, uniquingKeysWith: +) }
            }
            done.merge(results, uniquingKeysWith: +)
            real.clock.advance(by: .seconds(Int((seed &* 7 &+ UInt64(round)) % 5) * 86_400))
            try Self.checkInvariants(real, decryptions)
        }
        // Each of these operations must have succeeded at least once.
        for name in ["start", "certify", "promote", "revoke", "restore", "finish", "abandon", "decrypt"] {
            #expect(done[name, default: 0] > 0, "\(name) never succeeded")
        }
    }

    /// A refusal is a correct outcome; an internal error or a failure of the store is not.
    static func checkIsRefusal(_ error: any Error, _ operation: String) {
        guard let code = (error as? MerchantError)?.code, code != .internalError, code != .storeUnavailable else {
            Issue.record("\(operation): \(error)")
            return
        }
    }

    /// The time of the last decryption for each key, to compare with the time of its promotion.
    final class Decryptions: Sendable {
        private let latest = Mutex<[PublicKeyHash: Timestamp]>([:])

        func note(_ hash: PublicKeyHash, at time: Timestamp) { latest.withLock { $0[hash] = time } }
        func latest(_ hash: PublicKeyHash) -> Timestamp? { latest.withLock { $0[hash] } }
    }

    /// Performs a random operation, and returns its name and, if it failed, its error.
    static func act(
        _ real: RealStore, _ decryptions: Decryptions, _ generator: inout SeededGenerator
    ) async -> (String, (any Error)?) {
        let merchant = merchants[Int.random(in: 0..<merchants.count, using: &generator)]
        let keys = (try? real.store.readNow { try $0.keyPairs(of: merchant) }) ?? []
        let rolls =
            (try? real.store.readNow { try $0.rolls(RollFilter(merchant: merchant, step: nil), before: nil, limit: 3) })
            ?? []
        let request = RealStore.request
        let operations = real.operations
        func randomKey(_ states: [KeyState]) -> PublicKeyHash {
            keys.filter { states.contains($0.state) }.randomElement(using: &generator)?.publicKeyHash
                ?? PublicKeyHash(of: [])
        }
        let roll = rolls.randomElement(using: &generator)?.number ?? 0
        let choice = Int.random(in: 0..<16, using: &generator)
        do {
            switch choice {
            case 0:
                _ = try await operations.rolls.startRoll(of: merchant, algorithm: nil, for: request)
                return ("start", nil)
            case 1, 2, 3:
                try await real.certify(randomKey([.pending]), of: merchant)
                return ("certify", nil)
            case 4:
                _ = try await operations.transitions.promote(randomKey(KeyState.allCases), dryRun: false, for: request)
                return ("promote", nil)
            case 5:
                let reason = Bool.random(using: &generator) ? "compromised" : "model"
                _ = try await operations.transitions.revoke(
                    randomKey([.pending, .standby, .current, .retiring]), reason: reason, dryRun: false, for: request)
                return ("revoke", nil)
            case 6:
                _ = try await operations.transitions.restore(randomKey([.revoked]), dryRun: false, for: request)
                return ("restore", nil)
            case 7:
                _ = try await operations.transitions.destroy(
                    randomKey([.revoked]), after: .zero, dryRun: false, for: request)
                return ("destroy", nil)
            case 8:
                _ = try await operations.rolls.finishRoll(
                    roll, evenIfNotQuiet: Bool.random(using: &generator), reason: "model", dryRun: false, for: request)
                return ("finish", nil)
            case 9:
                _ = try await operations.rolls.abandonRoll(roll, reason: nil, dryRun: false, for: request)
                return ("abandon", nil)
            case 10, 11:
                let hash = randomKey([.standby, .current, .retiring])
                guard hash != PublicKeyHash(of: []) else { return ("none", nil) }
                decryptions.note(hash, at: real.clock.now)
                operations.observedUses.recordDecryption(hash, at: real.clock.now)
                try await operations.keyUses.storeUses(as: RealStore.caller)
                return ("decrypt", nil)
            case 12:
                _ = try? operations.paymentTokens.resolveNow(randomKey(KeyState.allCases))
                try await operations.keyUses.storeUses(as: RealStore.caller)
                return ("resolve", nil)
            case 13:
                _ = try await operations.renewals.runSchedule(as: RealStore.caller)
                return ("schedule", nil)
            case 14:
                _ = try await operations.paymentTokens.exportPrivateKey(randomKey([.current, .retiring]), for: request)
                return ("export", nil)
            default:
                try await operations.preparation.prepareKeyPairs(of: merchant, algorithm: .ecV1, for: request)
                return ("prepare", nil)
            }
        } catch { return ("operation \(choice)", error) }
    }

    static func checkInvariants(_ real: RealStore, _ decryptions: Decryptions) throws {
        let now = real.clock.now
        let policy = real.policy
        let quietCutoff = now.adding(.zero - policy.quietPeriod)
        var all: [KeyPair] = []
        try real.store.readNow { reading in
            var byState: [KeyState: Int] = [:]
            for merchant in merchants {
                let keys = try reading.keyPairs(of: merchant)
                for key in keys { byState[key.state, default: 0] += 1 }
                #expect(keys.count { $0.state == .current } <= 1)
                for key in keys {
                    let hasBytes = try reading.sealedPrivateKey(of: key.publicKeyHash) != nil
                    #expect(hasBytes == (key.state != .destroyed))
                    let hasCertificate = try !reading.certificates(of: key.publicKeyHash).isEmpty
                    #expect(!key.state.isActive || hasCertificate)
                    #expect(key.state != .pending || !hasCertificate)
                }
                let rolls = try reading.rolls(RollFilter(merchant: merchant, step: nil), before: nil, limit: 1000)
                #expect(rolls.count(where: \.isOpen) <= 1)
                for roll in rolls {
                    try check(roll, in: reading, quietCutoff: quietCutoff, policy: policy, at: now)
                    try checkConfirmation(of: roll, decryptions, in: reading)
                }
                try checkHistory(of: merchant, keys, in: reading)
            }
            all = try merchants.flatMap { try reading.keyPairs(of: $0) }
            let counts = try reading.counts(at: now)
            for state in KeyState.allCases { #expect(counts.keyPairs[state] == byState[state, default: 0]) }
        }
        for key in all {
            #expect(((try? real.operations.paymentTokens.resolveNow(key.publicKeyHash)) != nil) == key.state.isActive)
        }
    }

    static func check(
        _ roll: Roll, in reading: any RepositoryReading, quietCutoff: Timestamp, policy: RollPolicy, at now: Timestamp
    ) throws {
        let to = try #require(try reading.keyPair(roll.to))
        let from = try roll.from.flatMap { try reading.keyPair($0) }
        let fromUse = try from.flatMap { try reading.keyUse(of: $0.publicKeyHash) }
        let toUse = try reading.keyUse(of: roll.to)
        let progress = RollLifecycle.progress(
            of: roll, from: from, fromUse: fromUse, to: to, toUse: toUse, policy: policy, at: now)
        // The columns that lists are read from agree with the key pairs.
        let listed = try reading.rolls(
            RollFilter(merchant: nil, step: .state(progress.state, quietCutoff: quietCutoff)), before: roll.number + 1,
            limit: 1)
        #expect(listed.first?.number == roll.number, "roll \(roll.number) is \(progress.state)")
        guard roll.isOpen else { return }
        #expect(
            RollLifecycle.outcome(from: from?.state, to: to.state) == nil,
            "\(String(describing: from?.state)) \(to.state)")
        #expect(
            roll.idleSince == from.flatMap { RollLifecycle.idleSince(from: $0, fromUse: fromUse, to: to, toUse: toUse) }
        )
    }

    /// A roll's quiet period begins only if a token caused the promotion, or was decrypted since the promotion.
    static func checkConfirmation(
        of roll: Roll, _ decryptions: Decryptions, in reading: any RepositoryReading
    ) throws {
        guard roll.isOpen, roll.idleSince != nil else { return }
        let promotion = try #require(
            try reading.auditRecords(merchant: nil, key: roll.to, before: nil, limit: 1000)
                .first { $0.entry.action == .keyPromoted }?.entry)
        let isAutomatic = promotion.reason != nil
        let isConfirmed = decryptions.latest(roll.to).map { $0 >= promotion.at } ?? false
        #expect(isAutomatic || isConfirmed, "roll \(roll.number): no token for \(roll.to) since \(promotion.at)")
    }

    /// The audit records of each key pair lead from one state to the next, and each record is intact.
    static func checkHistory(
        of merchant: MerchantIdentifier, _ keys: [KeyPair], in reading: any RepositoryReading
    ) throws {
        let transitions: Set<AuditAction> = [
            .keyGenerated, .certificateStored, .keyPromoted, .keySuperseded, .keyRevoked, .keyRestored, .keyDestroyed,
        ]
        for key in keys {
            let records = try reading.auditRecords(merchant: nil, key: key.publicKeyHash, before: nil, limit: 1000)
                .reversed().filter { transitions.contains($0.entry.action) }
            var state: String?
            for record in records {
                #expect(record.isIntact && record.entry.before == state, "\(key.publicKeyHash): \(record.entry)")
                state = record.entry.after
            }
            #expect(state == key.state.rawValue)
        }
    }
}

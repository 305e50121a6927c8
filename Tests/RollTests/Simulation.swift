import Crypto
import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import SQLiteStore
import Vocabulary

/// Years of merchants and Apple, simulated on the real store and the real use cases.
///
/// The seed determines every action. Failures are collected, so that a test can check that a run with a deliberate fault
/// has failures.
final class Simulation {
    static let day = Duration.seconds(86_400)
    static let tick = Duration.seconds(6 * 3600)

    let real: RealStore
    var merchants: [SimulatedMerchant] = []
    private(set) var failures: [String] = []
    private(set) var counts: [String: Int] = [:]
    var generator: SeededGenerator

    init(merchants count: Int, seed: UInt64, policy: RollPolicy) throws {
        real = try RealStore(policy: policy)
        generator = SeededGenerator(seed: seed)
        for number in 0..<count { merchants.append(SimulatedMerchant(number, start: real.clock.now, &generator)) }
    }

    func fail(_ text: String) { if failures.count < 20 { failures.append("\(real.clock.now) \(text)") } }
    func note(_ what: String) { counts[what, default: 0] += 1 }

    func run(days: Int) async throws {
        let end = real.clock.now.adding(Self.day * days)
        while real.clock.now < end {
            let begin = real.clock.now
            try await actOnRolls()
            var payments: [(at: Timestamp, merchant: Int)] = []
            for index in merchants.indices {
                if merchants[index].joinsAt <= begin, !merchants[index].hasJoined { try await join(index) }
                payments += merchants[index].payments(until: begin.adding(Self.tick), &generator).map { ($0, index) }
            }
            payments.sort { ($0.at, $0.merchant) < ($1.at, $1.merchant) }
            for payment in payments {
                advance(to: payment.at)
                pay(payment.merchant)
            }
            advance(to: begin.adding(Self.tick))
            try await real.operations.keyUses.storeUses(as: RealStore.caller)
            let report = try await real.operations.renewals.runSchedule(as: RealStore.caller)
            counts["rolls started", default: 0] += report.rollsStarted
            counts["rolls finished", default: 0] += report.rollsFinished
            counts["warnings", default: 0] += report.warnings
            if report.failures > 0 { fail("the schedule could not prepare \(report.failures) successors") }
        }
    }

    private func advance(to time: Timestamp) {
        let missing = time.millisecondsSince1970 - real.clock.now.millisecondsSince1970
        if missing > 0 { real.clock.advance(by: .milliseconds(missing)) }
    }

    // MARK: Merchants' actions

    private func join(_ index: Int) async throws {
        let merchant = merchants[index].identifier
        _ = try await real.operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: RealStore.request)
        let pairs = try await real.operations.preparation.prepareKeyPairs(
            of: merchant, algorithm: .ecV1, for: RealStore.request)
        let signsBoth = Bool.random(using: &generator)
        for keyPair in pairs.prefix(signsBoth ? 2 : 1) { try await real.certify(keyPair.publicKeyHash, of: merchant) }
        let first = pairs[0].publicKeyHash
        _ = try await real.operations.transitions.promote(first, dryRun: false, for: RealStore.request)
        merchants[index].join(with: first, certificateEnds: real.clock.now.adding(Self.day * 760))
    }

    /// Merchants perform the steps that their rolls wait for, each after its own delay, or never.
    private func actOnRolls() async throws {
        let open = try await real.operations.rolls.rolls(of: nil, state: .open, before: nil, limit: 100_000)
        for view in open.reversed() {
            guard let index = merchants.firstIndex(of: view.roll.merchantIdentifier) else { continue }
            let to = view.roll.to
            if try await revertsRoll(view.roll, of: index) { continue }
            switch view.progress.state {
            case .started:
                guard merchants[index].isDue(.sign, of: to, at: real.clock.now, &generator) else { continue }
                try await real.certify(to, of: view.roll.merchantIdentifier)
                merchants[index].certificateEnds[to] = real.clock.now.adding(Self.day * 760)
            case .certificateStored:
                guard merchants[index].isDue(.activate, of: to, at: real.clock.now, &generator) else { continue }
                merchants[index].activate(to, at: real.clock.now, &generator)
                if merchants[index].promotesByHand {
                    merchants[index].promotedByHand.insert(to)
                    _ = try await real.operations.transitions.promote(to, dryRun: false, for: RealStore.request)
                }
            case .promoted, .quiet:
                if !merchants[index].activated.contains(to), !merchants[index].promotedByHand.contains(to) {
                    fail("\(to) was promoted before its certificate was activated at Apple")
                }
            case .finished, .abandoned: break
            }
        }
    }

    /// Reverts a roll, if the merchant does so: activates the old key at Apple and promotes it again. After 10 days the
    /// merchant promotes the new key again, but activates it at Apple only after 30 days.
    ///
    /// - Returns: whether the merchant is reverting the roll, and must do nothing else for it.
    private func revertsRoll(_ roll: Roll, of index: Int) async throws -> Bool {
        let (merchant, now) = (merchants[index], real.clock.now)
        func promote(_ hash: PublicKeyHash) async throws {
            merchants[index].promotedByHand.insert(hash)
            _ = try await real.operations.transitions.promote(hash, dryRun: false, for: RealStore.request)
        }
        guard let repeated = merchant.repeated else {
            guard merchant.revertsRoll, let from = roll.from, merchant.usesOnly(roll.to),
                try real.state(roll.to) == .current
            else { return false }
            merchants[index].activate(from, at: now, &generator)
            try await promote(from)
            merchants[index].repeated = .init(
                to: roll.to, promotesAt: now.adding(Self.day * 10), activatesAt: now.adding(Self.day * 30))
            note("rolls reverted")
            return true
        }
        guard repeated.to == roll.to, !repeated.isDone else { return false }
        if repeated.activatesAt <= now {
            merchants[index].activate(roll.to, at: now, &generator)
            merchants[index].repeated?.isDone = true
        } else if repeated.promotesAt <= now, try real.state(roll.to) == .retiring {
            try await promote(roll.to)
        }
        return true
    }

    // MARK: Apple's actions

    private func pay(_ index: Int) {
        let now = real.clock.now
        if merchants[index].sendsJunk, let hash = merchants[index].knownHashes.randomElement(using: &generator) {
            _ = try? real.operations.paymentTokens.resolveNow(hash)
            note("junk")
        }
        guard let hash = merchants[index].keyOfToken(at: now, &generator) else {
            return note("no certificate at Apple")
        }
        do {
            _ = try real.operations.paymentTokens.resolveNow(hash)
            real.operations.observedUses.recordDecryption(hash, at: now)
            note("tokens")
        } catch { fail("a token of \(merchants[index].identifier) can't be decrypted: \(error)") }
    }

    // MARK: Checks

    /// Checks that each threshold that passed while a key was current raised one event within 12 hours.
    func checkWarnings() async throws {
        let now = real.clock.now
        for merchant in merchants where merchant.hasJoined {
            let events = try real.store.readNow { reading in
                try reading.events(after: nil, merchant: merchant.identifier, limit: .max).map(\.event)
            }
            try await checkReminders(of: merchant.identifier, events)
            for (hash, ends) in merchant.certificateEnds {
                let records = try await real.operations.audit.auditRecords(
                    AuditFilter(merchant: merchant.identifier, key: hash), from: nil, oldestFirst: false, limit: 100)
                let begins = records.reversed().filter { $0.entry.action == .keyPromoted }.map(\.entry.at)
                let superseded = records.reversed().filter { $0.entry.action == .keySuperseded }.map(\.entry.at)
                let whileCurrent = begins.map { from in (from, superseded.first { $0 >= from } ?? now) }
                for days in ExpiryWarning.thresholds {
                    let time = ends.adding(Self.day * -days)
                    guard whileCurrent.contains(where: { $0 <= time && time.adding(Self.tick * 2) < $1 })
                    else { continue }
                    note("thresholds")
                    let wasExpiryWarningSent = try real.store.readNow {
                        try $0.wasExpiryWarningSent(of: ends, days: days, key: hash)
                    }
                    if !wasExpiryWarningSent {
                        fail("\(hash) expired at \(ends) and no warning was sent \(days) days before")
                    }
                    let kind: Event.Kind = days == 0 ? .certificateExpired : .certificateExpiringSoon
                    let warnings = events.filter { event in
                        event.kind == kind && event.publicKeyHash == hash && time <= event.occurredAt
                            && event.occurredAt <= time.adding(Self.tick * 2)
                    }
                    if warnings.count != 1 {
                        fail("\(hash) expired at \(ends) and \(warnings.count) events were raised \(days) days before")
                    }
                }
            }
        }
    }

    /// Checks that each roll that waits for its merchant raised a reminder every week.
    private func checkReminders(of merchant: MerchantIdentifier, _ events: [Event]) async throws {
        for view in try await real.operations.rolls.rolls(of: merchant, state: .open, before: nil, limit: 100)
        where view.progress.waitingFor == .merchant {
            let waited = real.clock.now.millisecondsSince1970 - view.progress.since.millisecondsSince1970
            let least = waited / (Self.day * 7 + Self.tick).milliseconds
            let reminders = events.count { $0.kind == .rollWaiting && $0.rollId == view.roll.rollId }
            note("rolls left waiting")
            if reminders < least {
                fail(
                    "roll \(view.roll.rollId) of \(merchant) is waiting with \(reminders) reminders, expected at least \(least)"
                )
            }
        }
    }

    /// Checks that each merchant that acts promptly has a valid current key.
    func checkPromptMerchants() throws {
        let now = real.clock.now
        for merchant in merchants where merchant.hasJoined && merchant.diligence == .prompt {
            let current = try real.store.readNow { reading in
                try reading.keyPairs(of: merchant.identifier).first { $0.state == .current }?.publicKeyHash
            }
            guard let ends = current.flatMap({ merchant.certificateEnds[$0] }), ends > now else {
                fail("\(merchant.identifier) acted promptly and has no valid current key")
                continue
            }
        }
    }

    /// A hash that is equal for equal runs. It covers the counts and the hash of the last audit record, which covers
    /// all earlier records.
    func digest() async throws -> String {
        let last = try await real.operations.audit.auditRecords(AuditFilter(), from: nil, oldestFirst: false, limit: 1)
            .first
        let text = counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        return Hex.encode(SHA256.hash(data: Data((Hex.encode(last?.hash ?? []) + text).utf8)))
    }
}

extension [SimulatedMerchant] {
    /// The index of a merchant, which is the number in its identifier.
    fileprivate func firstIndex(of identifier: MerchantIdentifier) -> Int? {
        identifier.rawValue.split(separator: ".").last.flatMap { Int($0.dropFirst()) }
    }
}

import Crypto
import Foundation
import MerchantCore
import SQLiteStore
import MerchantTestSupport
import MerchantOperations
import Vocabulary

/// Merchants and Apple over years, on the real store and the real use cases, with a clock that is moved.
///
/// Everything that the model does follows from the seed. What goes wrong is collected, so that a run with a fault put in on
/// purpose can be seen to fail.
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

    private func advance(to moment: Timestamp) {
        let missing = moment.millisecondsSince1970 - real.clock.now.millisecondsSince1970
        if missing > 0 { real.clock.advance(by: .milliseconds(missing)) }
    }

    // MARK: Merchants' part

    private func join(_ index: Int) async throws {
        let merchant = merchants[index].identifier
        _ = try await real.operations.merchants.addMerchant(
            merchant, name: nil, targetActiveKeyPairs: nil, for: RealStore.request)
        let made = try await real.operations.preparation.prepareKeyPairs(
            of: merchant, algorithm: .ecV1, for: RealStore.request)
        let signsBoth = Bool.random(using: &generator)
        for keyPair in made.prefix(signsBoth ? 2 : 1) { try await real.certify(keyPair.publicKeyHash, of: merchant) }
        let first = made[0].publicKeyHash
        _ = try await real.operations.transitions.promote(first, dryRun: false, for: RealStore.request)
        merchants[index].join(with: first, certificateEnds: real.clock.now.adding(Self.day * 760))
    }

    /// Who is asked for something does it after a delay of its own, or never.
    private func actOnRolls() async throws {
        let open = try await real.operations.rolls.rolls(of: nil, state: .open, before: nil, limit: 100_000)
        for view in open.reversed() {
            guard let index = merchants.firstIndex(of: view.roll.merchantIdentifier) else { continue }
            let to = view.roll.to
            if try await takesRollBack(view.roll, of: index) { continue }
            switch view.standing.state {
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
                    fail("\(to) was promoted before Apple was told to use it")
                }
            case .finished, .abandoned: break
            }
        }
    }

    /// Promotes the old key again at Apple and here, and later the new one here alone.
    ///
    /// - Returns: whether the merchant acts on the roll in this way, now or later.
    private func takesRollBack(_ roll: Roll, of index: Int) async throws -> Bool {
        let (merchant, now) = (merchants[index], real.clock.now)
        func promote(_ hash: PublicKeyHash) async throws {
            merchants[index].promotedByHand.insert(hash)
            _ = try await real.operations.transitions.promote(hash, dryRun: false, for: RealStore.request)
        }
        guard let repeated = merchant.repeated else {
            guard merchant.takesRollBack, let from = roll.from, merchant.usesOnly(roll.to),
                try real.state(roll.to) == .current
            else { return false }
            merchants[index].activate(from, at: now, &generator)
            try await promote(from)
            merchants[index].repeated = .init(
                to: roll.to, promotesAt: now.adding(Self.day * 10), activatesAt: now.adding(Self.day * 30))
            note("rolls taken back")
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

    // MARK: Apple's part

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

    // MARK: Judgement

    /// Each threshold that passed while a key was current was warned of, by an event at its time.
    func judgeWarnings() async throws {
        let now = real.clock.now
        for merchant in merchants where merchant.hasJoined {
            let events = try real.store.readNow { reading in
                try reading.events(after: nil, merchant: merchant.identifier, limit: .max).map(\.event)
            }
            try await judgeReminders(of: merchant.identifier, events)
            for (hash, ends) in merchant.certificateEnds {
                let records = try await real.operations.audit.auditRecords(
                    AuditFilter(merchant: merchant.identifier, key: hash), from: nil, oldestFirst: false, limit: 100)
                let begins = records.reversed().filter { $0.entry.action == .keyPromoted }.map(\.entry.at)
                let superseded = records.reversed().filter { $0.entry.action == .keySuperseded }.map(\.entry.at)
                let whileCurrent = begins.map { from in (from, superseded.first { $0 >= from } ?? now) }
                for days in ExpiryWarning.thresholds {
                    let moment = ends.adding(Self.day * -days)
                    guard whileCurrent.contains(where: { $0 <= moment && moment.adding(Self.tick * 2) < $1 })
                    else { continue }
                    note("thresholds")
                    let wasWarned = try real.store.readNow { try $0.wasWarned(of: ends, days: days, key: hash) }
                    if !wasWarned { fail("\(hash) ended \(ends) and nobody was warned \(days) days before") }
                    let kind: Event.Kind = days == 0 ? .certificateExpired : .certificateExpiringSoon
                    let told = events.filter { event in
                        event.kind == kind && event.publicKeyHash == hash && moment <= event.occurredAt
                            && event.occurredAt <= moment.adding(Self.tick * 2)
                    }
                    if told.count != 1 {
                        fail("\(hash) ended \(ends) and \(told.count) events said so \(days) days before")
                    }
                }
            }
        }
    }

    /// Whoever left a roll waiting was reminded of it every week.
    private func judgeReminders(of merchant: MerchantIdentifier, _ events: [Event]) async throws {
        for view in try await real.operations.rolls.rolls(of: merchant, state: .open, before: nil, limit: 100)
        where view.standing.waitingFor == .merchant {
            let waited = real.clock.now.millisecondsSince1970 - view.standing.since.millisecondsSince1970
            let least = waited / (Self.day * 7 + Self.tick).milliseconds
            let reminders = events.count { $0.kind == .rollWaiting && $0.rollId == view.roll.rollId }
            note("rolls left waiting")
            if reminders < least {
                fail(
                    "\(merchant) left roll \(view.roll.rollId) waiting and was reminded \(reminders) times, not \(least)"
                )
            }
        }
    }

    /// Who did its part has a key that lasts.
    func judgeDiligent() throws {
        let now = real.clock.now
        for merchant in merchants where merchant.hasJoined && merchant.diligence == .prompt {
            let current = try real.store.readNow { reading in
                try reading.keyPairs(of: merchant.identifier).first { $0.state == .current }?.publicKeyHash
            }
            guard let ends = current.flatMap({ merchant.certificateEnds[$0] }), ends > now else {
                fail("\(merchant.identifier) did its part and has no valid current key")
                continue
            }
        }
    }

    /// The same for the same run: the audit's last hash stands for everything before it.
    func digest() async throws -> String {
        let last = try await real.operations.audit.auditRecords(AuditFilter(), from: nil, oldestFirst: false, limit: 1)
            .first
        let text = counts.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        return Hex.encode(SHA256.hash(data: Data((Hex.encode(last?.hash ?? []) + text).utf8)))
    }
}

extension [SimulatedMerchant] {
    /// They are numbered by their names.
    fileprivate func firstIndex(of identifier: MerchantIdentifier) -> Int? {
        identifier.rawValue.split(separator: ".").last.flatMap { Int($0.dropFirst()) }
    }
}

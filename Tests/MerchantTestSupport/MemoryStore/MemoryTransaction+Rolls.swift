package import MerchantCore
package import Vocabulary

extension MemoryTransaction {
    package func roll(_ number: Int) -> Roll? { state.rolls.first { $0.number == number } }

    package func openRoll(of merchant: MerchantIdentifier, algorithm: KeyAlgorithm) -> Roll? {
        state.rolls.first { $0.isOpen && $0.merchantIdentifier == merchant && $0.algorithm == algorithm }
    }

    package func rolls(_ filter: RollFilter, before cursor: Int?, limit: Int) -> [Roll] {
        Array(
            state.rolls.reversed().filter { roll in
                (cursor.map { roll.number < $0 } ?? true)
                    && (filter.merchant.map { $0 == roll.merchantIdentifier } ?? true) && matches(filter.step, roll)
            }.prefix(limit))
    }

    private func matches(_ step: RollFilter.Step?, _ roll: Roll) -> Bool {
        switch step {
        case nil: true
        case .open: roll.isOpen
        case .state(let state, let quietCutoff): self.state(of: roll, quietCutoff: quietCutoff) == state
        }
    }

    private func state(of roll: Roll, quietCutoff: Timestamp) -> RollState {
        if let outcome = roll.outcome { return outcome == .finished ? .finished : .abandoned }
        return RollLifecycle.state(
            to: keyPair(roll.to)?.state ?? .pending, isQuiet: roll.idleSince.map { $0 <= quietCutoff } ?? false)
    }

    package func rollsWaitingLongest(limit: Int) -> [Roll] {
        let open = state.rolls.filter(\.isOpen)
        return Array(open.sorted { since($0) < since($1) }.prefix(limit))
    }

    private func since(_ roll: Roll) -> Timestamp {
        max(roll.startedAt, keyPair(roll.to)?.stateSince ?? roll.startedAt)
    }

    package func rollCounts(quietCutoff: Timestamp) -> [RollState: Int] {
        Dictionary(grouping: state.rolls) { self.state(of: $0, quietCutoff: quietCutoff) }.mapValues(\.count)
    }

    package func rollsIdleSince(notAfter time: Timestamp, limit: Int) -> [Roll] {
        Array(state.rolls.filter { $0.isOpen && ($0.idleSince.map { $0 <= time } ?? false) }.prefix(limit))
    }

    package func rollsIdleSince(after time: Timestamp, limit: Int) -> [Roll] {
        Array(state.rolls.filter { $0.isOpen && ($0.idleSince.map { $0 > time } ?? false) }.prefix(limit))
    }

    package func rollsToRemind(at time: Timestamp, limit: Int) -> [Roll] {
        Array(state.rolls.filter { $0.remindAt.map { $0 <= time } ?? false }.prefix(limit))
    }

    package func finishedRollsWithoutNextPair(limit: Int) -> [Roll] {
        Array(state.rolls.filter { $0.outcome == .finished && !$0.hasNextPair }.prefix(limit))
    }

    package func keyUse(of hash: PublicKeyHash) -> KeyUse? { state.uses[hash] }

    package func keyUses(of hashes: [PublicKeyHash]) -> [PublicKeyHash: KeyUse] { entries(hashes, keyUse(of:)) }

    package func keyPairsChanged(by uses: [(key: PublicKeyHash, value: KeyUse)]) -> Set<PublicKeyHash> {
        Set(
            uses.filter { hash, use in
                switch keyPair(hash)?.state {
                case .revoked, .destroyed: true
                case .standby where use.decryptions != nil: true
                default: state.rolls.contains { $0.isOpen && ($0.from == hash || $0.to == hash) }
                }
            }.map(\.key))
    }

    package func sortedByRow(_ hashes: [PublicKeyHash]) -> [PublicKeyHash] {
        let asked = Set(hashes)
        return state.rows.map(\.keyPair.publicKeyHash).filter { asked.contains($0) }
    }

    package func keyPairsDueForExpiryCheck(at time: Timestamp, limit: Int) -> [ExpiringKeyPair] {
        Array(
            keyPairsExpiring(by: Timestamp(millisecondsSince1970: .max), limit: .max).filter { ending in
                guard let watch = state.watches[ending.keyPair.publicKeyHash] else { return true }
                return watch.map { $0 <= time } ?? false
            }.prefix(limit))
    }

    package func wasExpiryWarningSent(of ends: Timestamp, days: Int, key hash: PublicKeyHash) -> Bool {
        state.warnings["\(hash) \(ends) \(days)"] != nil
    }

    package func keyPairsScheduledForDestruction(limit: Int) -> [KeyPair] {
        Array(Self.byDestruction(state.rows.map(\.keyPair).filter { $0.destroyAfter != nil }).prefix(limit))
    }

    package func countScheduledForDestruction() -> Int { state.rows.count { $0.keyPair.destroyAfter != nil } }

    package func insertRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?, to: PublicKeyHash,
        at time: Timestamp
    ) throws -> Roll {
        if let open = openRoll(of: merchant, algorithm: algorithm) {
            throw MerchantError(.rollStateConflict, "roll \(open.rollId) is open")
        }
        let roll = Roll(
            number: state.rolls.count + 1, merchantIdentifier: merchant, algorithm: algorithm, from: from, to: to,
            startedAt: time, remindAt: time.adding(.seconds(7 * 86_400)))
        state.rolls.append(roll)
        return roll
    }

    package func update(_ roll: Roll) throws {
        guard let index = state.rolls.firstIndex(where: { $0.number == roll.number }) else {
            throw MerchantError.rollNotFound(roll.number)
        }
        state.rolls[index] = roll
    }

    package func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) { state.uses[hash] = use }

    package func addKeyUses(_ uses: [(key: PublicKeyHash, value: KeyUse)]) {
        for (hash, use) in uses {
            guard let keyPair = keyPair(hash) else { continue }
            state.uses[hash, default: KeyUse()].add(use)
            state.uses[hash]?.confirmPromotion(of: keyPair, by: use.decryptions)
        }
    }

    package func setNextExpiryCheck(of hash: PublicKeyHash, at time: Timestamp?) { state.watches[hash] = .some(time) }

    package func recordExpiryWarning(of ends: Timestamp, days: Int, key hash: PublicKeyHash, at time: Timestamp) {
        state.warnings["\(hash) \(ends) \(days)"] = time
    }
}

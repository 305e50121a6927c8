import MerchantCore
import Vocabulary

/// No rolls here; uses are kept.
extension FakeTransaction {
    func openRoll(of merchant: MerchantIdentifier, algorithm: KeyAlgorithm) throws -> Roll? { nil }
    func keyUse(of hash: PublicKeyHash) throws -> KeyUse? { state.uses[hash] }
    func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws { state.uses[hash] = use }
    func addKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws { state.uses[hash, default: KeyUse()].add(use) }
    func useHasConsequences(of hash: PublicKeyHash) throws -> Bool { false }
    func inStoredOrder(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash] { hashes }

    func roll(_ number: Int) throws -> Roll? { throw FakeStore.NotNeeded() }
    func rolls(_ filter: RollFilter, before cursor: Int?, limit: Int) throws -> [Roll] { throw FakeStore.NotNeeded() }
    func rollsWaitingLongest(limit: Int) throws -> [Roll] { throw FakeStore.NotNeeded() }
    func rollCounts(quietIfIdleSince moment: Timestamp) throws -> [RollState: Int] { throw FakeStore.NotNeeded() }
    func rollsIdle(since moment: Timestamp, limit: Int) throws -> [Roll] { throw FakeStore.NotNeeded() }
    func rollsIdle(after moment: Timestamp, limit: Int) throws -> [Roll] { throw FakeStore.NotNeeded() }
    func rollsToRemind(at moment: Timestamp, limit: Int) throws -> [Roll] { throw FakeStore.NotNeeded() }
    func rollsWithoutNextPair(limit: Int) throws -> [Roll] { throw FakeStore.NotNeeded() }
    func keyPairsToWatch(at moment: Timestamp, limit: Int) throws -> [ExpiringKeyPair] { throw FakeStore.NotNeeded() }
    func wasWarned(of ends: Timestamp, days: Int, key hash: PublicKeyHash) throws -> Bool {
        throw FakeStore.NotNeeded()
    }
    func countEnding(_ keyPairs: ExpiringKeyPairs, from begin: Timestamp, to end: Timestamp) throws -> Int {
        throw FakeStore.NotNeeded()
    }
    func keyPairsExpiring(
        _ keyPairs: ExpiringKeyPairs, from begin: Timestamp, to end: Timestamp, limit: Int
    ) throws -> [ExpiringKeyPair] { throw FakeStore.NotNeeded() }
    func countBelowTarget(endingFrom begin: Timestamp, to end: Timestamp) throws -> Int { throw FakeStore.NotNeeded() }
    func merchantsBelowTarget(endingBefore moment: Timestamp, limit: Int) throws -> [MerchantBelowTarget] {
        throw FakeStore.NotNeeded()
    }
    func countWithoutActiveKeyPair() throws -> Int { throw FakeStore.NotNeeded() }
    func merchantsWithoutActiveKeyPair(limit: Int) throws -> [MerchantBelowTarget] { throw FakeStore.NotNeeded() }
    func keyPairsAwaitingDestruction(limit: Int) throws -> [KeyPair] { throw FakeStore.NotNeeded() }
    func countAwaitingDestruction() throws -> Int { throw FakeStore.NotNeeded() }
    func insertRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?, to: PublicKeyHash,
        at moment: Timestamp
    ) throws -> Roll { throw FakeStore.NotNeeded() }
    func update(_ roll: Roll) throws { throw FakeStore.NotNeeded() }
    func setNextWatch(of hash: PublicKeyHash, at moment: Timestamp?) throws { throw FakeStore.NotNeeded() }
    func noteWarning(of ends: Timestamp, days: Int, key hash: PublicKeyHash, at moment: Timestamp) throws {
        throw FakeStore.NotNeeded()
    }
}

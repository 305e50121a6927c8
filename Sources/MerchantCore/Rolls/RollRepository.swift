package import Vocabulary

/// What can be asked of the store about rolls, uses, and what the schedule has to look at.
package protocol RollReading {
    func roll(_ number: Int) throws -> Roll?
    func openRoll(of merchant: MerchantIdentifier, algorithm: KeyAlgorithm) throws -> Roll?
    /// Newest first, those before `cursor`.
    func rolls(_ filter: RollFilter, before cursor: Int?, limit: Int) throws -> [Roll]
    /// Open rolls by step, those that wait longest first.
    func rollsWaitingLongest(limit: Int) throws -> [Roll]
    /// Open rolls by step.
    ///
    /// - Parameter moment: idle since then or before is quiet.
    func rollCounts(quietIfIdleSince moment: Timestamp) throws -> [RollState: Int]
    /// Open rolls whose old key pair nobody has asked for since then.
    func rollsIdle(since moment: Timestamp, limit: Int) throws -> [Roll]
    /// Open rolls whose old key pair was asked for, or changed its state, after that time.
    func rollsIdle(after moment: Timestamp, limit: Int) throws -> [Roll]
    func rollsToRemind(at moment: Timestamp, limit: Int) throws -> [Roll]
    /// Finished rolls after which the next pair has yet to be prepared.
    func rollsWithoutNextPair(limit: Int) throws -> [Roll]

    func keyUse(of hash: PublicKeyHash) throws -> KeyUse?
    /// Whether a use of the key pair leads to more than a number: it is part of an open roll, or was withdrawn.
    func useHasConsequences(of hash: PublicKeyHash) throws -> Bool
    /// Those that are there, as they lie in storage: whoever changes many in this order touches few places of it.
    func inStoredOrder(_ hashes: [PublicKeyHash]) throws -> [PublicKeyHash]
    /// Active key pairs with a certificate that the schedule has to look at now, most overdue first.
    func keyPairsToWatch(at moment: Timestamp, limit: Int) throws -> [ExpiringKeyPair]
    /// Whether that end was warned of at that threshold.
    func wasWarned(of ends: Timestamp, days: Int, key hash: PublicKeyHash) throws -> Bool

    /// Revoked key pairs that wait for their destruction, soonest first.
    func keyPairsAwaitingDestruction(limit: Int) throws -> [KeyPair]
    func countAwaitingDestruction() throws -> Int
}

/// What can be changed of them; commits with everything else of the transaction.
package protocol RollChanging: RollReading {
    /// - Returns: the roll with its number.
    func insertRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?, to: PublicKeyHash,
        at moment: Timestamp
    ) throws -> Roll
    /// Writes everything that may change.
    func update(_ roll: Roll) throws
    func setKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws
    /// Adds to what is stored of it, in one step; what is not stored yet begins with it.
    func addKeyUse(_ use: KeyUse, of hash: PublicKeyHash) throws
    /// - Parameter moment: nil: not before its certificate or state changes.
    func setNextWatch(of hash: PublicKeyHash, at moment: Timestamp?) throws
    func noteWarning(of ends: Timestamp, days: Int, key hash: PublicKeyHash, at moment: Timestamp) throws
}

/// Which rolls a list holds.
package struct RollFilter: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// Every one that has not ended.
        case open
        /// `quiet` and `promoted` are told apart by how long nobody asked for the old key.
        case state(RollState, quietIfIdleSince: Timestamp)
    }

    package let merchant: MerchantIdentifier?
    package let step: Step?

    package init(merchant: MerchantIdentifier?, step: Step?) {
        self.merchant = merchant
        self.step = step
    }
}

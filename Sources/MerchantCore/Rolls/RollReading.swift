package import Vocabulary

/// Reads key rolls in a transaction of the store.
package protocol RollReading {
    func roll(_ number: Int) throws -> Roll?
    func openRoll(of merchant: MerchantIdentifier, algorithm: KeyAlgorithm) throws -> Roll?
    /// Rolls that match the filter, newest first, starting before the roll with the number `cursor`.
    func rolls(_ filter: RollFilter, before cursor: Int?, limit: Int) throws -> [Roll]
    /// Open rolls. Those that have been in their state longest come first.
    func rollsWaitingLongest(limit: Int) throws -> [Roll]
    /// The number of rolls in each state.
    ///
    /// - Parameter quietCutoff: a promoted roll counts as quiet if its ``Roll/idleSince`` is not later than this time.
    func rollCounts(quietCutoff: Timestamp) throws -> [RollState: Int]
    /// Open rolls whose ``Roll/idleSince`` is not later than `time`: they wait only for time to pass. After `time`, no
    /// decryptor requested the old key pair, and neither key pair of the roll changed its state.
    func rollsIdleSince(notAfter time: Timestamp, limit: Int) throws -> [Roll]
    /// Open rolls whose ``Roll/idleSince`` is later than `time`: they wait only for time to pass. After `time`, a
    /// decryptor requested the old key pair, or a key pair of the roll changed its state.
    func rollsIdleSince(after time: Timestamp, limit: Int) throws -> [Roll]
    /// Rolls whose next reminder is due at `time`.
    func rollsToRemind(at time: Timestamp, limit: Int) throws -> [Roll]
    /// Finished rolls after which the key pair for the merchant's next roll was not prepared yet.
    func finishedRollsWithoutNextPair(limit: Int) throws -> [Roll]
}

/// Reads and changes key rolls in a transaction of the store.
package protocol RollWriting: RollReading {
    /// - Returns: the roll with its number.
    func insertRoll(
        of merchant: MerchantIdentifier, algorithm: KeyAlgorithm, from: PublicKeyHash?, to: PublicKeyHash,
        at time: Timestamp
    ) throws -> Roll
    /// Writes every field that may change.
    func update(_ roll: Roll) throws
}

/// The filter of a list of rolls. A nil field matches every roll.
package struct RollFilter: Hashable, Sendable {
    /// Selects rolls by their state.
    package enum Step: Hashable, Sendable {
        /// Rolls that have not ended.
        case open
        /// Rolls in this state. A promoted roll counts as `quiet` if its ``Roll/idleSince`` is not later than
        /// `quietCutoff`.
        case state(RollState, quietCutoff: Timestamp)
    }

    package let merchant: MerchantIdentifier?
    package let step: Step?

    package init(merchant: MerchantIdentifier?, step: Step?) {
        self.merchant = merchant
        self.step = step
    }
}

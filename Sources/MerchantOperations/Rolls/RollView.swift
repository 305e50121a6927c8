package import MerchantCore
import Vocabulary

/// A roll with its state and its next step.
package struct RollView: Sendable {
    package let roll: Roll
    package let progress: RollProgress
}

extension KeyPairReading where Self: KeyUseReading {
    /// - Parameter now: the time for which the roll's state is computed.
    func view(_ roll: Roll, _ policy: RollPolicy, at now: Timestamp) throws -> RollView {
        try view(roll, policy, at: now, keyPair: keyPair, use: keyUse(of:))
    }

    /// The views of several rolls. Reads the key pairs and their uses together.
    ///
    /// - Parameter now: the time for which the rolls' states are computed.
    func views(_ rolls: [Roll], _ policy: RollPolicy, at now: Timestamp) throws -> [RollView] {
        let hashes = rolls.flatMap { [$0.to, $0.from].compactMap(\.self) }
        let (keyPairs, uses) = (try keyPairs(hashes), try keyUses(of: hashes))
        return try rolls.map { try view($0, policy, at: now, keyPair: { keyPairs[$0] }, use: { uses[$0] }) }
    }

    private func view(
        _ roll: Roll, _ policy: RollPolicy, at now: Timestamp, keyPair: (PublicKeyHash) throws -> KeyPair?,
        use: (PublicKeyHash) throws -> KeyUse?
    ) throws -> RollView {
        guard let to = try keyPair(roll.to) else { throw MerchantError.keyNotFound(roll.to) }
        let from = try roll.from.flatMap(keyPair)
        return RollView(
            roll: roll,
            progress: RollLifecycle.progress(
                of: roll, from: from, fromUse: try from.flatMap { try use($0.publicKeyHash) }, to: to,
                toUse: try use(roll.to), policy: policy, at: now))
    }

    /// The algorithm of the merchant's current key; EC_v1 if there is no current key, or one of each algorithm.
    func defaultAlgorithm(of merchant: MerchantIdentifier) throws -> KeyAlgorithm {
        let current = Set(
            try keyPairs(of: merchant).filter { $0.purpose == .paymentProcessing && $0.state == .current }
                .map(\.algorithm))
        return current.count == 1 ? current.first ?? .ecV1 : .ecV1
    }
}

extension RollReading {
    /// - Throws: `rollNotFound`.
    func existingRoll(_ number: Int) throws -> Roll {
        guard let roll = try roll(number) else { throw MerchantError.rollNotFound(number) }
        return roll
    }
}

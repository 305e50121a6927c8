package import MerchantCore
package import Vocabulary

/// Generates the key pairs that a merchant lacks to reach its target, ``Merchant/targetActiveKeyPairs``.
package struct SuccessorPreparation: Sendable {
    package typealias Records = Transactions<
        any MerchantReading & KeyPairReading & RollReading,
        any MerchantReading & KeyPairWriting & RollWriting & ChangeRecording
    >

    private let records: Records
    private let currentPolicy: CurrentValue<RollPolicy>
    private var policy: RollPolicy { currentPolicy.value }
    private let generation: KeyPairGeneration
    private let clock: any WallClock

    package init(
        records: Records, policy: CurrentValue<RollPolicy>, generation: KeyPairGeneration, clock: any WallClock
    ) {
        self.records = records
        currentPolicy = policy
        self.generation = generation
        self.clock = clock
    }

    /// Generates key pairs with CSRs until the merchant has as many as its target. Pending, standby and current key
    /// pairs count, except a standby key pair whose certificate expires soon. A second call changes nothing.
    ///
    /// - Returns: the generated key pairs.
    @discardableResult
    package func prepareKeyPairs(
        of identifier: MerchantIdentifier, algorithm: KeyAlgorithm, for request: Request
    ) async throws -> [KeyPair] {
        let now = clock.now
        let missing = try await records.read { try missingKeyPairs(of: identifier, in: $0, at: now) }
        guard missing > 0 else { return [] }
        var generated: [NewKeyPair] = []
        for _ in 0..<missing {
            generated.append(try await generation.generate(algorithm, .paymentProcessing, for: identifier))
        }
        return try await records.write { [generated] transaction in
            // Another request may have generated key pairs for the merchant meanwhile.
            let missing = try missingKeyPairs(of: identifier, in: transaction, at: now)
            return try generated.prefix(max(0, missing)).map {
                try KeyPairGeneration.insert($0, of: identifier, at: now, for: request, in: transaction)
            }
        }
    }

    /// How many key pairs the merchant lacks: as many as ``prepareKeyPairs(of:algorithm:for:)`` would generate. Zero or
    /// negative if the merchant has enough.
    func missingKeyPairs(
        of identifier: MerchantIdentifier, in reading: any MerchantReading & KeyPairReading, at now: Timestamp
    ) throws -> Int {
        let merchant = try reading.existingMerchant(identifier)
        // A certificate that expires by this time may be due for renewal already.
        let earliestExpiry = now.adding(policy.renewBefore + policy.jitter)
        let counted = try reading.keyPairs(of: identifier).filter { keyPair in
            guard keyPair.purpose == .paymentProcessing else { return false }
            switch keyPair.state {
            case .pending, .current: return true
            case .standby:
                let expiry = try reading.certificates(of: keyPair.publicKeyHash).map(\.notAfter).max()
                return (expiry ?? now) > earliestExpiry
            case .retiring, .revoked, .destroyed: return false
            }
        }
        return merchant.targetActiveKeyPairs - counted.count
    }

    /// Prepares the key pairs for the next roll of each merchant that has finished a roll, once after each finished
    /// roll.
    ///
    /// - Returns: the number of finished rolls that were handled.
    package func prepareNextPairs(limit: Int, for request: Request) async throws -> Int {
        let due = try await records.read { try $0.finishedRollsWithoutNextPair(limit: limit) }
        for roll in due { try await prepareNextPairs(after: roll, for: request) }
        return due.count
    }

    /// Prepares the key pairs for the next roll of the merchant that has finished this roll.
    ///
    /// - Returns: the generated key pairs.
    @discardableResult
    func prepareNextPairs(after roll: Roll, for request: Request) async throws -> [KeyPair] {
        var generated: [KeyPair] = []
        do {
            generated = try await prepareKeyPairs(of: roll.merchantIdentifier, algorithm: roll.algorithm, for: request)
        } catch let error as MerchantError where [.merchantNotFound, .keyStateConflict].contains(error.code) {
            // The merchant was removed, or has reached the limit of key pairs. The roll counts as handled, so that the
            // schedule does not try again on every run.
        }
        try await records.write { transaction in
            var handled = try transaction.existingRoll(roll.number)
            handled.hasNextPair = true
            try transaction.update(handled)
        }
        return generated
    }
}

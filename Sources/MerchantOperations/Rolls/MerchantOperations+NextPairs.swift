package import MerchantCore
package import Vocabulary

extension MerchantOperations {
    /// Makes key pairs with CSRs until the merchant has as many active and pending ones as its target says. One whose
    /// certificate has to be replaced soon anyway does not count. Repeating it changes nothing.
    ///
    /// - Returns: the key pairs that were made.
    @discardableResult
    package func prepareKeyPairs(
        of identifier: MerchantIdentifier, algorithm: KeyAlgorithm, for request: Request
    ) async throws -> [KeyPair] {
        let now = clock.now
        let missing = try await repository.read { try missingKeyPairs(of: identifier, in: $0, at: now) }
        guard missing > 0 else { return [] }
        var made: [NewKeyPair] = []
        for _ in 0..<missing { made.append(try await newKeyPair(algorithm, .paymentProcessing, for: identifier)) }
        return try await repository.write { [new = made] transaction in
            // Another may have made some meanwhile.
            let missing = try missingKeyPairs(of: identifier, in: transaction, at: now)
            return try new.prefix(max(0, missing)).map {
                try Self.insert($0, of: identifier, at: now, for: request, in: transaction)
            }
        }
    }

    private func missingKeyPairs(
        of identifier: MerchantIdentifier, in reading: any MerchantReading, at now: Timestamp
    ) throws -> Int {
        let merchant = try reading.existingMerchant(identifier)
        let earliestEnd = now.adding(rolls.renewBefore + rolls.jitter)
        let lasting = try reading.keyPairs(of: identifier).filter { keyPair in
            guard keyPair.purpose == .paymentProcessing else { return false }
            switch keyPair.state {
            case .pending, .current: return true
            case .standby:
                return try reading.certificates(of: keyPair.publicKeyHash).map(\.notAfter).max() ?? now > earliestEnd
            case .retiring, .revoked, .destroyed: return false
            }
        }
        return merchant.targetActiveKeyPairs - lasting.count
    }

    /// Prepares the pair to roll to next, once for each finished roll.
    ///
    /// - Returns: how many rolls were seen to.
    package func prepareNextPairs(limit: Int, for request: Request) async throws -> Int {
        let due = try await repository.read { try $0.rollsWithoutNextPair(limit: limit) }
        for roll in due {
            do {
                try await prepareKeyPairs(of: roll.merchantIdentifier, algorithm: roll.algorithm, for: request)
            } catch let error as MerchantError where [.merchantNotFound, .keyStateConflict].contains(error.code) {
                // The merchant was removed, or has all the keys it may have: nothing is to be prepared.
            }
            try await repository.write { transaction in
                var seen = try transaction.existingRoll(roll.number)
                seen.hasNextPair = true
                try transaction.update(seen)
            }
        }
        return due.count
    }

    /// Stores a key pair just made, as `pending`, with its audit record.
    static func insert(
        _ new: NewKeyPair, of identifier: MerchantIdentifier, at now: Timestamp, for request: Request,
        in transaction: any MerchantTransaction
    ) throws -> KeyPair {
        try judgeCount(of: identifier, in: transaction)
        let keyPair = KeyPair(
            publicKeyHash: new.publicKeyHash, merchantIdentifier: identifier, algorithm: new.algorithm,
            purpose: new.purpose, origin: .generated, state: .pending, createdAt: now, stateSince: now)
        try transaction.insert(keyPair, new)
        try transaction.append(
            request.entry(
                .keyGenerated, at: now, merchant: identifier, key: new.publicKeyHash, after: keyPair.state.rawValue,
                reason: "\(new.algorithm.rawValue) \(new.purpose.rawValue)"))
        return keyPair
    }
}

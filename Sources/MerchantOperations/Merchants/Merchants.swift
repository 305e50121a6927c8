package import MerchantCore
package import Vocabulary

/// Adds, lists, changes and removes merchants.
package struct Merchants: Sendable {
    package typealias Records = Transactions<
        any MerchantReading & KeyPairReading & DaemonStateReading,
        any MerchantWriting & KeyPairReading & RegistrationReading & DaemonStateReading & ChangeRecording
    >

    private let records: Records
    private let clock: any WallClock
    /// Idempotency records expire by the confirmed time, so that a wrong machine clock does not make them expire early.
    private let confirmedTime: ConfirmedTime

    package init(records: Records, clock: any WallClock, confirmedTime: ConfirmedTime) {
        self.records = records
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// Adds a merchant. A repeat with the same content changes nothing and returns the same result. In a repeat, nil
    /// for the name or the target matches any stored value.
    ///
    /// - Throws: `merchantExists` if the merchant exists with another name or target, or was removed; `malformed` if
    ///   the name or the target is not valid.
    package func addMerchant(
        _ identifier: MerchantIdentifier, name: String?, targetActiveKeyPairs: Int?, for request: Request
    ) async throws -> MerchantView {
        try Self.validate(name: name, target: targetActiveKeyPairs)
        let now = clock.now
        return try await records.write { transaction in
            if try request.idempotency.earlierResource(in: transaction) != nil {
                return try transaction.view(try transaction.existingMerchant(identifier))
            }
            if let merchant = try transaction.merchant(identifier) {
                if merchant.removedAt == nil, name == nil || name == merchant.name,
                    targetActiveKeyPairs == nil || targetActiveKeyPairs == merchant.targetActiveKeyPairs
                {
                    return try transaction.view(merchant)
                }
                throw MerchantError(
                    .merchantExists,
                    merchant.removedAt == nil
                        ? "merchant \(identifier) exists with another name or target; change it with 'merchant set'"
                        : "merchant \(identifier) was removed, and its identifier cannot be used again")
            }
            let merchant = Merchant(
                identifier: identifier, name: name,
                targetActiveKeyPairs: targetActiveKeyPairs ?? Merchant.defaultTargetActiveKeyPairs, createdAt: now)
            try transaction.insert(merchant)
            try transaction.append(
                request.auditEntry(.merchantAdded, at: now, merchant: identifier, after: merchant.summary))
            try request.idempotency.remember(identifier.rawValue, at: confirmedTime.reading(), in: transaction)
            return MerchantView(merchant: merchant, activeKeyPairs: 0, isNewestKeyPairBackedUp: nil)
        }
    }

    package func merchant(_ identifier: MerchantIdentifier) async throws -> MerchantView {
        try await records.read { try $0.view(try $0.existingMerchant(identifier)) }
    }

    /// Merchants that match the filter, sorted by identifier, starting after `cursor`, at most `limit`.
    package func merchants(
        _ filter: MerchantFilter = MerchantFilter(), after cursor: MerchantIdentifier?, limit: Int
    ) async throws -> [MerchantView] {
        try await records.read { reading in
            try reading.views(try reading.merchants(filter, after: cursor, limit: limit))
        }
    }

    /// Changes the name, the target or both. An argument that is nil changes nothing.
    package func changeMerchant(
        _ identifier: MerchantIdentifier, name: String?, targetActiveKeyPairs: Int?, for request: Request
    ) async throws -> MerchantView {
        try Self.validate(name: name, target: targetActiveKeyPairs)
        let now = clock.now
        return try await records.write { transaction in
            let before = try transaction.existingMerchant(identifier)
            var after = before
            if let name { after.name = name }
            if let targetActiveKeyPairs { after.targetActiveKeyPairs = targetActiveKeyPairs }
            if after != before {
                try transaction.update(after)
                try transaction.append(
                    request.auditEntry(
                        .merchantChanged, at: now, merchant: identifier, before: before.summary, after: after.summary))
            }
            return try transaction.view(after)
        }
    }

    /// Removes a merchant. The merchant's identifier cannot be used again, and the merchant's history is kept.
    ///
    /// - Throws: `merchantInUse` if a registration belongs to the merchant or has the merchant as `encryptTo`, or if a
    ///   key pair of the merchant may still be needed. A key pair is not needed if it is destroyed, or if it is revoked
    ///   and never had a certificate.
    package func removeMerchant(
        _ identifier: MerchantIdentifier, dryRun: Bool, for request: Request
    ) async throws -> MerchantView {
        let now = clock.now
        return try await records.write { transaction in
            var merchant = try transaction.existingMerchant(identifier)
            for keyPair in try transaction.keyPairs(of: identifier) {
                // A key without a certificate was never active, so no token was ever decrypted with it.
                let isUnused =
                    try keyPair.state == .revoked && transaction.certificates(of: keyPair.publicKeyHash).isEmpty
                guard keyPair.state == .destroyed || isUnused else {
                    throw MerchantError(
                        .merchantInUse,
                        "key \(keyPair.publicKeyHash) is \(keyPair.state.rawValue): first revoke and destroy every key of the merchant; for a key without a certificate, revoking it is enough"
                    )
                }
            }
            if let partner = try transaction.registration(naming: identifier) {
                throw MerchantError(
                    .merchantInUse,
                    "registration \(partner) names the merchant: first unregister the registration at Apple")
            }
            let view = try transaction.view(merchant)
            guard !dryRun else { return view }
            merchant.removedAt = now
            try transaction.update(merchant)
            try transaction.append(
                request.auditEntry(.merchantRemoved, at: now, merchant: identifier, before: merchant.summary))
            return view
        }
    }

    private static func validate(name: String?, target: Int?) throws(MerchantError) {
        if let name { _ = try DisplayText(name, named: "name", longest: Merchant.longestName) }
        if let target, !Merchant.targetActiveKeyPairsRange.contains(target) {
            throw MerchantError(
                .malformed,
                "'targetActiveKeyPairs' is \(target), expected \(Merchant.targetActiveKeyPairsRange.lowerBound) to \(Merchant.targetActiveKeyPairsRange.upperBound)"
            )
        }
    }
}

extension Merchant {
    /// How audit records describe the merchant.
    fileprivate var summary: String { "name=\(name ?? "") targetActiveKeyPairs=\(targetActiveKeyPairs)" }
}

import MerchantCore
import Vocabulary

extension KeyTransitionPlan {
    /// The plan that revokes the key pair; empty if the key pair is revoked already.
    ///
    /// - Throws: `lastActiveKey` if no other key pair can take its place, unless the reason permits that.
    static func revocation(
        of keyPair: KeyPair, reason: String, at time: ClockReading, for request: Request,
        in transaction: any KeyTransitionWriting
    ) throws -> Self {
        let (hash, now) = (keyPair.publicKeyHash, time.wall)
        var plan = KeyTransitionPlan(keyPair)
        guard try KeyLifecycle.state(after: .revoke, from: keyPair.state) != keyPair.state else { return plan }
        let merchant = try transaction.merchant(keyPair.merchantIdentifier)
        let remaining = try transaction.keyPairs(of: keyPair.merchantIdentifier)
            .filter { $0.purpose == keyPair.purpose && $0.state.isActive && $0.publicKeyHash != hash }
        func isValid(_ hash: PublicKeyHash) throws -> Bool {
            try transaction.certificates(of: hash).contains { $0.isValid(at: now) }
        }
        // Apple does not encrypt to an expired certificate. So a key pair with a valid certificate can only be replaced
        // by another one with a valid certificate. If the key pair's own certificate has expired, an expired one is
        // enough.
        let hasExpired = try !isValid(hash)
        let replacements = try remaining.filter { other in
            try other.algorithm == keyPair.algorithm && (hasExpired || isValid(other.publicKeyHash))
        }
        plan.warnings = try RevocationRules.check(
            keyPair, remaining: .init(replacements: replacements.count, active: remaining.count),
            target: merchant?.targetActiveKeyPairs ?? Merchant.defaultTargetActiveKeyPairs, reason: reason)
        if keyPair.state == .current {
            plan.warnings.append(
                "this is the current key: tokens that Apple encrypts to it are refused from now on")
        }
        var change = try KeyChange(
            keyPair, .revoke, at: time.latest,
            audit: request.entry(
                .keyRevoked, at: now, merchant: keyPair.merchantIdentifier, key: hash,
                before: keyPair.state.rawValue, after: KeyState.revoked.rawValue, reason: reason))
        change.after.revocationReason = reason
        plan.changes = [change]
        if reason == RevocationRules.compromised {
            plan.warnings += try RevocationConsequences.list(of: keyPair, replacements: replacements, in: transaction)
        }
        plan.events = [.revoked(keyPair, reason: reason, at: now)]
        if let merchant, keyPair.state.isActive, keyPair.purpose == .paymentProcessing,
            remaining.count < merchant.targetActiveKeyPairs
        {
            let ends = try transaction.currentCertificateEnds(of: merchant.identifier, without: hash)
            plan.events.append(.belowTarget(merchant, active: remaining.count, currentEnds: ends, at: now))
        }
        return plan
    }

    /// The change that destroys the private key of a revoked key pair immediately.
    static func destruction(
        of keyPair: KeyPair, at time: ClockReading, for request: Request
    ) throws -> KeyChange {
        var change = try KeyChange(
            keyPair, .destroy, at: time.latest,
            audit: request.entry(
                .keyDestroyed, at: time.wall, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
                before: keyPair.state.rawValue, after: KeyState.destroyed.rawValue, reason: keyPair.revocationReason))
        change.after.destroyAfter = nil
        return change
    }
}

extension KeyPairReading {
    /// When the first certificate of the merchant's current payment processing key pairs expires; nil if there are
    /// none.
    ///
    /// - Parameter hash: a key pair that does not count.
    fileprivate func currentCertificateEnds(
        of merchant: MerchantIdentifier, without hash: PublicKeyHash
    ) throws -> Timestamp? {
        try keyPairs(of: merchant)
            .filter { $0.state == .current && $0.purpose == .paymentProcessing && $0.publicKeyHash != hash }
            .compactMap { try certificates(of: $0.publicKeyHash).map(\.notAfter).max() }.min()
    }
}

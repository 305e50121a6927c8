import MerchantCore
import Vocabulary

extension KeyTransitionPlan {
    /// The plan that revokes the key pair. The plan is empty if the key pair is revoked already.
    ///
    /// - Throws: `lastActiveKey` if the key pair is active and no other key pair can replace it, unless the reason is
    ///   ``RevocationRules/compromised``.
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
        func hasValidCertificate(_ hash: PublicKeyHash) throws -> Bool {
            try transaction.certificates(of: hash).contains { $0.isValid(at: now) }
        }
        // Apple does not encrypt to an expired certificate. So a key pair with a valid certificate can only be replaced
        // by another key pair with a valid certificate. If the key pair itself has no valid certificate, its
        // replacement needs none either.
        let needsValidCertificate = try hasValidCertificate(hash)
        let replacements = try remaining.filter { other in
            try other.algorithm == keyPair.algorithm
                && (!needsValidCertificate || hasValidCertificate(other.publicKeyHash))
        }
        plan.warnings = try RevocationRules.check(
            keyPair, remaining: .init(replacements: replacements.count, active: remaining.count),
            target: merchant?.targetActiveKeyPairs ?? Merchant.defaultTargetActiveKeyPairs, reason: reason)
        let isStandbyInUse = try transaction.isStandbyInUse(keyPair)
        let isCurrentPaymentKey = keyPair.state == .current && keyPair.purpose == .paymentProcessing
        if isCurrentPaymentKey || isStandbyInUse {
            let found = isStandbyInUse ? "Apple encrypts tokens to this standby key" : "this is the current key"
            plan.warnings.append(
                "\(found): from now on, the daemon refuses the tokens that Apple encrypts to this key")
        }
        var change = try KeyChange(
            keyPair, .revoke, at: time.latest,
            audit: request.auditEntry(
                .keyRevoked, at: now, merchant: keyPair.merchantIdentifier, key: hash,
                before: keyPair.state.rawValue, after: KeyState.revoked.rawValue, reason: reason))
        change.after.revocationReason = reason
        plan.changes = [change]
        if reason == RevocationRules.compromised {
            plan.warnings += try RevocationConsequences.list(
                of: keyPair, isInUse: isCurrentPaymentKey || isStandbyInUse, replacements: replacements,
                in: transaction)
        }
        plan.events = [
            .revoked(keyPair, isInUse: keyPair.state == .current || isStandbyInUse, reason: reason, at: now)
        ]
        if let merchant, keyPair.state.isActive, keyPair.purpose == .paymentProcessing,
            remaining.count < merchant.targetActiveKeyPairs
        {
            let expiry = try transaction.earliestExpiryOfCurrentKeyPairs(of: merchant.identifier, without: hash)
            plan.events.append(
                .belowTarget(merchant, active: remaining.count, currentCertificateExpiry: expiry, at: now))
        }
        return plan
    }

    /// The change that destroys the private key of a revoked key pair immediately.
    static func destruction(
        of keyPair: KeyPair, at time: ClockReading, for request: Request
    ) throws -> KeyChange {
        var change = try KeyChange(
            keyPair, .destroy, at: time.latest,
            audit: request.auditEntry(
                .keyDestroyed, at: time.wall, merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash,
                before: keyPair.state.rawValue, after: KeyState.destroyed.rawValue, reason: keyPair.revocationReason))
        change.after.destroyAfter = nil
        return change
    }
}

extension KeyPairReading where Self: KeyUseReading {
    /// Whether Apple encrypts to the key pair although it is standby: see ``StandbyKeyUse``.
    fileprivate func isStandbyInUse(_ keyPair: KeyPair) throws -> Bool {
        let current = try currentKeyPair(matching: keyPair)
        return StandbyKeyUse.lastDecryption(
            of: keyPair, use: try keyUse(of: keyPair.publicKeyHash), current: current,
            currentUse: try current.flatMap { try keyUse(of: $0.publicKeyHash) }) != nil
    }
}

extension KeyPairReading {
    /// The earliest expiry of the merchant's current payment processing key pairs; nil if the merchant has none. A
    /// key pair expires when the last of its certificates does.
    ///
    /// - Parameter hash: a key pair that is not considered.
    fileprivate func earliestExpiryOfCurrentKeyPairs(
        of merchant: MerchantIdentifier, without hash: PublicKeyHash
    ) throws -> Timestamp? {
        try keyPairs(of: merchant)
            .filter { $0.state == .current && $0.purpose == .paymentProcessing && $0.publicKeyHash != hash }
            .compactMap { try certificates(of: $0.publicKeyHash).map(\.notAfter).max() }.min()
    }
}

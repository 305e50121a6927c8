package import MerchantCore
package import Vocabulary

/// What a promote, revoke, restore or destroy did, or as a dry run would do.
package struct KeyTransitions: Sendable {
    package struct Transition: Hashable, Sendable {
        package let publicKeyHash: PublicKeyHash
        package let from: KeyState
        package let to: KeyState
    }

    package let dryRun: Bool
    package let transitions: [Transition]
    package let warnings: [String]
    package let key: KeyView
}

extension MerchantOperations {
    /// How long a revoked key waits for its destruction unless said otherwise.
    package static let defaultDestructionWait = Duration.seconds(30 * 86_400)
    package static let longestDestructionWait = Duration.seconds(3_653 * 86_400)

    /// Says that Apple now encrypts to this key pair: the former current one becomes `retiring`.
    package func promote(_ hash: PublicKeyHash, dryRun: Bool, for request: Request) async throws -> KeyTransitions {
        try await move(dryRun: dryRun, for: request) { transaction, time in
            try Self.promotion(
                of: try transaction.existingKeyPair(hash), reason: nil, at: time, for: request, in: transaction)
        }
    }

    /// - Parameter reason: what the audit says of a promotion that nobody asked for.
    static func promotion(
        of keyPair: KeyPair, reason: String?, at time: ClockReading, for request: Request,
        in transaction: any MerchantTransaction
    ) throws -> KeyTransitionPlan {
        let (hash, now) = (keyPair.publicKeyHash, time.wall)
        var plan = KeyTransitionPlan(keyPair)
        guard try KeyLifecycle.state(after: .promote, from: keyPair.state) != keyPair.state else { return plan }
        let former = try transaction.currentKeyPair(likewise: keyPair)
        if let former {
            plan.changes.append(
                try KeyChange(
                    former, .supersede, at: time.latest,
                    audit: request.entry(
                        .keySuperseded, at: now, merchant: former.merchantIdentifier, key: former.publicKeyHash,
                        before: former.state.rawValue, after: KeyState.retiring.rawValue,
                        reason: "superseded by \(hash)")))
        }
        plan.changes.append(
            try KeyChange(
                keyPair, .promote, at: time.latest,
                audit: request.entry(
                    .keyPromoted, at: now, merchant: keyPair.merchantIdentifier, key: hash,
                    before: keyPair.state.rawValue, after: KeyState.current.rawValue, reason: reason)))
        plan.events.append(.promoted(keyPair, superseding: former, reason: reason, at: now))
        if let certificate = try transaction.certificates(of: hash).answering(at: now),
            !certificate.isValid(at: now)
        {
            plan.warnings.append(
                "the key's certificate ended at \(certificate.notAfter): Apple will not encrypt to it")
        }
        return plan
    }

    /// Revokes a key pair; the sealed private key is kept until it is destroyed.
    package func revoke(
        _ hash: PublicKeyHash, reason: String, dryRun: Bool, for request: Request
    ) async throws -> KeyTransitions {
        try Self.validate(reason: reason)
        return try await move(dryRun: dryRun, for: request) { transaction, time in
            try Self.revocation(
                of: try transaction.existingKeyPair(hash), reason: reason, at: time, for: request, in: transaction)
        }
    }

    static func validate(reason: String) throws(MerchantError) {
        _ = try DisplayText(reason, named: "reason", longest: RevocationRules.longestReason)
    }

    static func revocation(
        of keyPair: KeyPair, reason: String, at time: ClockReading, for request: Request,
        in transaction: any MerchantTransaction
    ) throws -> KeyTransitionPlan {
        let (hash, now) = (keyPair.publicKeyHash, time.wall)
        var plan = KeyTransitionPlan(keyPair)
        guard try KeyLifecycle.state(after: .revoke, from: keyPair.state) != keyPair.state else { return plan }
        let merchant = try transaction.merchant(keyPair.merchantIdentifier)
        let remaining = try transaction.keyPairs(of: keyPair.merchantIdentifier)
            .filter { $0.purpose == keyPair.purpose && $0.state.isActive && $0.publicKeyHash != hash }
        func isValid(_ hash: PublicKeyHash) throws -> Bool {
            try transaction.certificates(of: hash).contains { $0.isValid(at: now) }
        }
        // Apple encrypts no new tokens to a certificate that has ended: nothing is lost where both have.
        let hasEnded = try !isValid(hash)
        let replacements = try remaining.filter { other in
            try other.algorithm == keyPair.algorithm && (hasEnded || isValid(other.publicKeyHash))
        }
        plan.warnings = try RevocationRules.check(
            keyPair, remaining: .init(replacements: replacements.count, active: remaining.count),
            target: merchant?.targetActiveKeyPairs ?? Merchant.defaultTargetActiveKeyPairs, reason: reason)
        if keyPair.state == .current {
            plan.warnings.append(
                "this is the current key: tokens that Apple encrypts to it will be refused at once")
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

    /// Takes a revocation back, never to `current`; a destruction that waits is taken back with it.
    package func restore(_ hash: PublicKeyHash, dryRun: Bool, for request: Request) async throws -> KeyTransitions {
        try await move(dryRun: dryRun, for: request) { transaction, time in
            let keyPair = try transaction.existingKeyPair(hash)
            var plan = KeyTransitionPlan(keyPair)
            let event = KeyEvent.restore(
                hasCertificate: try !transaction.certificates(of: hash).isEmpty,
                anotherIsCurrent: try transaction.currentKeyPair(likewise: keyPair) != nil)
            let state = try KeyLifecycle.state(after: event, from: keyPair.state)
            var change = try KeyChange(
                keyPair, event, at: time.latest,
                audit: request.entry(
                    .keyRestored, at: time.wall, merchant: keyPair.merchantIdentifier, key: hash,
                    before: keyPair.state.rawValue, after: state.rawValue, reason: keyPair.revocationReason))
            change.after.revocationReason = nil
            change.after.destroyAfter = nil
            plan.changes = [change]
            return plan
        }
    }

    /// Destroys a revoked key's private half, at once or after a wait until which ``restore(_:dryRun:for:)`` takes it back.
    package func destroy(
        _ hash: PublicKeyHash, after wait: Duration?, dryRun: Bool, for request: Request
    ) async throws -> KeyTransitions {
        let wait = wait ?? Self.defaultDestructionWait
        guard wait >= .zero, wait <= Self.longestDestructionWait else {
            throw MerchantError(
                .malformed,
                "'afterSeconds' is \(wait.components.seconds), expected 0 to \(Self.longestDestructionWait.components.seconds)"
            )
        }
        let outcome = try await move(dryRun: dryRun, for: request) { transaction, time in
            let keyPair = try transaction.existingKeyPair(hash)
            var plan = KeyTransitionPlan(keyPair)
            guard try KeyLifecycle.state(after: .destroy, from: keyPair.state) != keyPair.state else { return plan }
            if wait == .zero {
                plan.changes = [try Self.destruction(of: keyPair, at: time, for: request)]
                plan.warnings = [Self.copiesWarning]
            } else {
                let due = time.latest.adding(wait)
                var after = keyPair
                after.destroyAfter = due
                plan.changes = [
                    KeyChange(
                        before: keyPair, after: after,
                        audit: request.entry(
                            .keyDestructionScheduled, at: time.wall, merchant: keyPair.merchantIdentifier, key: hash,
                            before: keyPair.destroyAfter?.rfc3339, after: due.rfc3339))
                ]
                plan.warnings = ["the private key will be destroyed after \(due); until then restore takes it back"]
            }
            return plan
        }
        if !dryRun, outcome.key.keyPair.state == .destroyed { try await repository.eraseRemovedBytes() }
        return outcome
    }

    /// Destroys every revoked key whose time has come, also by the confirmed time.
    ///
    /// - Returns: how many.
    package func destroyDueKeyPairs(as caller: Caller) async throws -> Int {
        let time = confirmedTime.reading()
        let request = Request(caller: caller, requestId: "schedule")
        let count = try await repository.write { transaction in
            let due = try transaction.keyPairsToDestroy(at: time.earliest, limit: 1000)
            for hash in due {
                let change = try Self.destruction(of: try transaction.existingKeyPair(hash), at: time, for: request)
                try change.perform(in: transaction)
            }
            return due.count
        }
        if count > 0 { try await repository.eraseRemovedBytes() }
        return count
    }

    private static let copiesWarning =
        "backups and other copies of the database made earlier still hold the sealed private key"

    private static func destruction(
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

    /// Plans inside the transaction, performs unless it is a dry run.
    private func move(
        dryRun: Bool, for request: Request,
        _ plan: @escaping @Sendable (any MerchantTransaction, ClockReading) throws -> KeyTransitionPlan
    ) async throws -> KeyTransitions {
        let time = confirmedTime.reading()
        return try await repository.write { transaction in
            let (plan, now) = (try plan(transaction, time), time.wall)
            let consequences = try RollEffects(of: plan.changes, in: transaction).consequences
            if !dryRun { try plan.perform(in: transaction, at: now, for: request) }
            return KeyTransitions(
                dryRun: dryRun, transitions: plan.transitions, warnings: plan.warnings + consequences,
                key: try transaction.view(plan.changes.last?.after ?? plan.keyPair, at: now))
        }
    }
}

extension KeyTransitionPlan {
    var transitions: [KeyTransitions.Transition] {
        changes.filter { $0.before.state != $0.after.state }.map {
            .init(publicKeyHash: $0.before.publicKeyHash, from: $0.before.state, to: $0.after.state)
        }
    }
}

extension MerchantReading {
    /// The soonest end among the merchant's current payment processing key pairs.
    fileprivate func currentCertificateEnds(
        of merchant: MerchantIdentifier, without hash: PublicKeyHash
    ) throws -> Timestamp? {
        try keyPairs(of: merchant)
            .filter { $0.state == .current && $0.purpose == .paymentProcessing && $0.publicKeyHash != hash }
            .compactMap { try certificates(of: $0.publicKeyHash).map(\.notAfter).max() }.min()
    }
}

package import MerchantCore
package import Vocabulary

/// The result of promoting, revoking, restoring or destroying a key pair. A dry run returns the result that the
/// operation would have, without ``staleNodes``.
package struct KeyTransitionResult: Sendable {
    package struct Transition: Hashable, Sendable {
        package let publicKeyHash: PublicKeyHash
        package let from: KeyState
        package let to: KeyState
    }

    package let dryRun: Bool
    package let transitions: [Transition]
    package var warnings: [String]
    /// The daemons that may still use the key pairs in their previous state, because these daemons cannot reach the
    /// database.
    package var staleNodes: [NodeName] = []
    /// The key pair that the request named, as it is after the operation.
    package let key: KeyView
}

/// Promotes, revokes, restores and destroys key pairs.
package struct KeyTransitionOperations: Sendable {
    package typealias Records = Transactions<Void, any KeyTransitionWriting>

    private let records: Records
    private let policy: CurrentValue<RollPolicy>
    private let uses: KeyUses
    private let eraseCopiesOfDestroyedSecrets: @Sendable () async throws -> Void
    private let nodes: any NodeDirectory
    /// Compared with the machine's clock, so that a wrong machine clock never shortens the wait before a scheduled
    /// destruction: the wait begins at the later of the two times, and ends when both have reached its end.
    private let confirmedTime: ConfirmedTime

    /// - Parameter eraseCopiesOfDestroyedSecrets: removes the copies of destroyed private keys that the store still has
    ///   in its files and in memory.
    package init(
        records: Records, policy: CurrentValue<RollPolicy>, uses: KeyUses,
        eraseCopiesOfDestroyedSecrets: @escaping @Sendable () async throws -> Void, nodes: any NodeDirectory,
        confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.policy = policy
        self.uses = uses
        self.eraseCopiesOfDestroyedSecrets = eraseCopiesOfDestroyedSecrets
        self.nodes = nodes
        self.confirmedTime = confirmedTime
    }

    /// The default time between a request to destroy a private key and its destruction.
    package static let defaultDestructionWait = Duration.seconds(30 * 86_400)
    /// Ten years.
    package static let longestDestructionWait = Duration.seconds(3_653 * 86_400)

    private var recentUse: RecentUseWarnings {
        RecentUseWarnings(uses: uses, quietPeriod: policy.value.quietPeriod)
    }

    /// Makes the key pair `current`, the state of the key that Apple encrypts to. The former current key pair of the
    /// same purpose and algorithm, if there is one, becomes `retiring`.
    package func promote(_ hash: PublicKeyHash, dryRun: Bool, for request: Request) async throws -> KeyTransitionResult
    {
        try await perform(dryRun: dryRun, for: request) { transaction, time in
            try KeyTransitionPlan.promotion(
                of: try transaction.existingKeyPair(hash), reason: nil, at: time, for: request, in: transaction)
        }
    }

    /// Revokes a key pair. The sealed private key stays stored until its destruction, so that
    /// ``restore(_:dryRun:for:)`` can undo the revocation.
    ///
    /// - Throws: `malformed` for an invalid reason; `lastActiveKey` if the key pair is active and no other key pair can
    ///   replace it, unless the reason is ``RevocationRules/compromised``.
    package func revoke(
        _ hash: PublicKeyHash, reason: String, dryRun: Bool, for request: Request
    ) async throws -> KeyTransitionResult {
        try RevocationRules.validate(reason: reason)
        return try await perform(dryRun: dryRun, for: request) { transaction, time in
            let keyPair = try transaction.existingKeyPair(hash)
            var plan = try KeyTransitionPlan.revocation(
                of: keyPair, reason: reason, at: time, for: request, in: transaction)
            plan.warnings += try recentUse.ofRevocation(keyPair, at: time, in: transaction)
            return plan
        }
    }

    /// Undoes a revocation, and cancels the scheduled destruction if there is one. The key pair becomes `pending`,
    /// `standby` or `retiring`, never `current`.
    package func restore(_ hash: PublicKeyHash, dryRun: Bool, for request: Request) async throws -> KeyTransitionResult
    {
        try await perform(dryRun: dryRun, for: request) { transaction, time in
            let keyPair = try transaction.existingKeyPair(hash)
            var plan = KeyTransitionPlan(keyPair)
            let trigger = KeyTrigger.restore(
                hasCertificate: try !transaction.certificates(of: hash).isEmpty,
                anotherIsCurrent: try transaction.currentKeyPair(matching: keyPair) != nil)
            let state = try KeyLifecycle.state(after: trigger, from: keyPair.state)
            var change = try KeyChange(
                keyPair, trigger, at: time.latest,
                audit: request.auditEntry(
                    .keyRestored, at: time.wall, merchant: keyPair.merchantIdentifier, key: hash,
                    before: keyPair.state.rawValue, after: state.rawValue, reason: keyPair.revocationReason))
            change.after.revocationReason = nil
            change.after.destroyAfter = nil
            plan.changes = [change]
            return plan
        }
    }

    /// Destroys the private key of a revoked key pair, immediately or after a wait. During the wait,
    /// ``restore(_:dryRun:for:)`` cancels the destruction.
    ///
    /// - Parameter wait: zero destroys the private key immediately; nil stands for ``defaultDestructionWait``.
    package func destroy(
        _ hash: PublicKeyHash, after wait: Duration?, dryRun: Bool, for request: Request
    ) async throws -> KeyTransitionResult {
        let wait = wait ?? Self.defaultDestructionWait
        guard wait >= .zero, wait <= Self.longestDestructionWait else {
            throw MerchantError(
                .malformed,
                "'afterSeconds' is \(wait.components.seconds), expected 0 to \(Self.longestDestructionWait.components.seconds)"
            )
        }
        let result = try await perform(dryRun: dryRun, for: request) { transaction, time in
            let keyPair = try transaction.existingKeyPair(hash)
            var plan = KeyTransitionPlan(keyPair)
            // The plan stays empty if the private key is destroyed already.
            guard try KeyLifecycle.state(after: .destroy, from: keyPair.state) != keyPair.state else { return plan }
            if wait == .zero {
                plan.changes = [try KeyTransitionPlan.destruction(of: keyPair, at: time, for: request)]
                plan.warnings = [Self.copiesWarning]
            } else {
                // The wait begins at the later of the machine's clock and the confirmed time, so that a machine clock
                // that was set back does not shorten it.
                let due = time.latest.adding(wait)
                var after = keyPair
                after.destroyAfter = due
                plan.changes = [
                    KeyChange(
                        before: keyPair, after: after,
                        audit: request.auditEntry(
                            .keyDestructionScheduled, at: time.wall, merchant: keyPair.merchantIdentifier, key: hash,
                            before: keyPair.destroyAfter?.rfc3339, after: due.rfc3339))
                ]
                plan.warnings = [
                    "the private key will be destroyed after \(due); until then, 'key restore' cancels the destruction"
                ]
            }
            plan.warnings += try recentUse.ofDestruction(keyPair, at: time, in: transaction)
            return plan
        }
        if !dryRun, result.key.keyPair.state == .destroyed { try await eraseCopiesOfDestroyedSecrets() }
        return result
    }

    /// Destroys the private keys whose scheduled destruction is due, at most 1000.
    ///
    /// A destruction is due when its scheduled time has passed by both the machine's clock and the confirmed time. So
    /// no key is destroyed early if the machine's clock is ahead.
    ///
    /// - Returns: the number of destroyed private keys.
    package func destroyDueKeyPairs(as caller: Caller) async throws -> Int {
        let time = confirmedTime.reading()
        let request = Request(caller: caller, requestId: "schedule")
        let count = try await records.write { transaction in
            let due = try transaction.keyPairsDueForDestruction(at: time.earliest, limit: 1000)
            for hash in due {
                let change = try KeyTransitionPlan.destruction(
                    of: try transaction.existingKeyPair(hash), at: time, for: request)
                try change.perform(in: transaction)
            }
            return due.count
        }
        if count > 0 { try await eraseCopiesOfDestroyedSecrets() }
        return count
    }

    private static let copiesWarning =
        "backups and other copies of the database that were created earlier still contain the sealed private key"

    /// Makes a plan and performs it, unless `dryRun` is true. Both happen in one transaction, so that the plan matches
    /// the stored state.
    private func perform(
        dryRun: Bool, for request: Request,
        _ makePlan: @escaping @Sendable (any KeyTransitionWriting, ClockReading) throws -> KeyTransitionPlan
    ) async throws -> KeyTransitionResult {
        let time = confirmedTime.reading()
        var result = try await records.write { transaction in
            let (plan, now) = (try makePlan(transaction, time), time.wall)
            let consequences = try RollEffects(of: plan.changes, in: transaction).consequences
            if !dryRun {
                // The key pair is in the requested state already. This write makes a repeated request wait until the
                // other daemons have applied the earlier change.
                if plan.changes.isEmpty { try transaction.rewriteUnchanged(plan.keyPair) }
                try plan.perform(in: transaction, at: now, for: request)
            }
            return KeyTransitionResult(
                dryRun: dryRun, transitions: plan.transitions, warnings: plan.warnings + consequences,
                key: try transaction.view(plan.changes.last?.after ?? plan.keyPair, at: now))
        }
        if !dryRun {
            // The change is stored, and every daemon with a lease has applied it.
            result.staleNodes = try await nodes.staleNodes()
            result.warnings += result.staleNodes.staleNodeWarnings
        }
        return result
    }
}

extension KeyTransitionPlan {
    /// The changes of state, without changes that keep the state, such as a scheduled destruction.
    var transitions: [KeyTransitionResult.Transition] {
        changes.filter { $0.before.state != $0.after.state }.map {
            .init(publicKeyHash: $0.before.publicKeyHash, from: $0.before.state, to: $0.after.state)
        }
    }
}

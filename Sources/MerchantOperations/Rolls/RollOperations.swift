package import MerchantCore
package import Vocabulary

/// The result of finishing or abandoning a roll, with the changes of its key pairs' states. A dry run returns the
/// changes that the operation would make.
package struct RollTransitionResult: Sendable {
    package let dryRun: Bool
    package let transitions: [KeyTransitionResult.Transition]
    package var warnings: [String]
    /// The daemons that may still use the old key pair, because they cannot reach the database.
    package var staleNodes: [NodeName] = []
    /// The roll after the operation; in a dry run, the unchanged roll.
    package let roll: RollView
    /// The number of key pairs that `finishRoll` generates for the merchant's next roll; nil for other operations.
    package var nextKeyPairs: Int?
    /// The key pairs that the operation has generated for the next roll; nil for a dry run and for other operations.
    package var generatedKeyPairs: [PublicKeyHash]?
}

/// Starts, lists, finishes and abandons key rolls.
package struct RollOperations: Sendable {
    package typealias Records = Transactions<
        any MerchantReading & KeyPairReading & KeyUseReading & RollReading, any KeyTransitionWriting
    >

    private let records: Records
    private let currentPolicy: CurrentValue<RollPolicy>
    private var policy: RollPolicy { currentPolicy.value }
    private let generation: KeyPairGeneration
    private let preparation: SuccessorPreparation
    private let uses: KeyUses
    private let nodes: any NodeDirectory
    private let clock: any WallClock
    /// Quiet periods end by the earlier of the confirmed time and the machine's clock, so that a machine clock that is
    /// ahead does not end a quiet period early.
    private let confirmedTime: ConfirmedTime

    package init(
        records: Records, policy: CurrentValue<RollPolicy>, generation: KeyPairGeneration,
        preparation: SuccessorPreparation,
        uses: KeyUses, nodes: any NodeDirectory, clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        currentPolicy = policy
        self.generation = generation
        self.preparation = preparation
        self.uses = uses
        self.nodes = nodes
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// Starts to replace a merchant's key pair. When this returns, the new key pair and its CSR exist. If the merchant
    /// has an open roll of the algorithm already, this returns that roll.
    ///
    /// - Parameter algorithm: nil stands for the algorithm of the merchant's current key. If the merchant has no
    ///   current key, or one of each algorithm, nil stands for EC_v1.
    /// - Returns: the roll, and whether this call started it.
    /// - Throws: `merchantNotFound`; `keyStateConflict` if the merchant has reached the limit of pending and active key
    ///   pairs; `overloaded` if another request changed the merchant's keys meanwhile.
    package func startRoll(
        of identifier: MerchantIdentifier, algorithm: KeyAlgorithm?, for request: Request
    ) async throws -> (view: RollView, isNew: Bool) {
        let now = clock.now
        let (algorithm, needsKeyPair) = try await records.read { reading in
            _ = try reading.existingMerchant(identifier)
            let algorithm = try algorithm ?? reading.defaultAlgorithm(of: identifier)
            let isOpen = try reading.openRoll(of: identifier, algorithm: algorithm) != nil
            return (
                algorithm,
                try !isOpen && currentAndSuccessor(of: identifier, algorithm, in: reading, at: now).successor == nil
            )
        }
        let new =
            needsKeyPair
            ? try await generation.generate(algorithm, .paymentProcessing, for: identifier) : nil
        return try await records.write { transaction in
            if let number = try request.idempotency.earlierResource(in: transaction).flatMap(Int.init),
                let roll = try transaction.roll(number)
            {
                return (try transaction.view(roll, policy, at: confirmedTime.reading().earliest), false)
            }
            _ = try transaction.existingMerchant(identifier)
            if let open = try transaction.openRoll(of: identifier, algorithm: algorithm) {
                return (try transaction.view(open, policy, at: confirmedTime.reading().earliest), false)
            }
            let (current, successor) = try currentAndSuccessor(of: identifier, algorithm, in: transaction, at: now)
            let to: KeyPair
            if let successor {
                to = successor
            } else if let new {
                to = try KeyPairGeneration.insert(new, of: identifier, at: now, for: request, in: transaction)
            } else {
                // No key pair was generated, because the read above found an open roll or a usable key pair. Another
                // request has ended that roll or revoked that key pair since.
                throw MerchantError(
                    .overloaded, "another request changed the merchant's keys during this request: repeat the request")
            }
            let started = try transaction.startRoll(
                of: identifier, algorithm: algorithm, from: current?.publicKeyHash, to: to.publicKeyHash, at: now,
                for: request)
            try request.idempotency.remember(started.rollId, at: confirmedTime.reading(), in: transaction)
            return (try transaction.view(started, policy, at: confirmedTime.reading().earliest), true)
        }
    }

    /// What ``startRoll(of:algorithm:for:)`` would do now.
    ///
    /// - Parameter algorithm: as for ``startRoll(of:algorithm:for:)``.
    /// - Throws: `merchantNotFound`.
    package func preview(of identifier: MerchantIdentifier, algorithm: KeyAlgorithm?) async throws -> RollPreview {
        let now = clock.now
        return try await records.read { reading in
            _ = try reading.existingMerchant(identifier)
            let algorithm = try algorithm ?? reading.defaultAlgorithm(of: identifier)
            if try reading.openRoll(of: identifier, algorithm: algorithm) != nil { return .open }
            let (_, successor) = try currentAndSuccessor(of: identifier, algorithm, in: reading, at: now)
            guard let successor else { return .generates }
            return successor.state == .pending ? .pending(successor.publicKeyHash) : .certified(successor.publicKeyHash)
        }
    }

    /// Finds the key pair that a roll would replace, and a stored key pair that can replace it.
    ///
    /// - Returns: `current`, the merchant's current key pair of the algorithm if there is one; and `successor`, the
    ///   stored key pair that can replace it, or nil if a key pair must be generated.
    private func currentAndSuccessor(
        of merchant: MerchantIdentifier, _ algorithm: KeyAlgorithm, in reading: any KeyPairReading, at now: Timestamp
    ) throws -> (current: KeyPair?, successor: KeyPair?) {
        let keyPairs = try reading.keyPairs(of: merchant).filter {
            $0.purpose == .paymentProcessing && $0.algorithm == algorithm
        }
        let current = keyPairs.first { $0.state == .current }
        // A certificate that expires by `earliestExpiry` may be due for renewal already.
        let successor = SuccessorChoice.choose(
            among: try keyPairs.filter { $0.state == .pending || $0.state == .standby }.map {
                ($0, try reading.certificates(of: $0.publicKeyHash).certificateInUse(at: now))
            },
            current: try current.flatMap { try reading.certificates(of: $0.publicKeyHash).certificateInUse(at: now) },
            earliestExpiry: now.adding(policy.renewBefore + policy.jitter))
        return (current, successor)
    }

    package func roll(_ number: Int) async throws -> RollView {
        let now = confirmedTime.reading().earliest
        return try await records.read { try $0.view(try $0.existingRoll(number), policy, at: now) }
    }

    /// The rolls that match the merchant and the state: at most `limit`, newest first, with numbers below `cursor`. A
    /// filter that is nil matches every roll.
    package func rolls(
        of merchant: MerchantIdentifier?, state: RollStateFilter?, before cursor: Int?, limit: Int
    ) async throws -> [RollView] {
        let now = confirmedTime.reading().earliest
        let step: RollFilter.Step? =
            switch state {
            case nil: nil
            case .open: .open
            case .state(let state): .state(state, quietCutoff: now.adding(.zero - policy.quietPeriod))
            }
        return try await records.read { reading in
            try reading.views(
                try reading.rolls(RollFilter(merchant: merchant, step: step), before: cursor, limit: limit), policy,
                at: now)
        }
    }

    /// Finishes a roll: revokes its old key pair, and generates the key pairs that the merchant then lacks for its next
    /// roll. The roll must be quiet: the new key is promoted and has decrypted a token, and nobody has requested the
    /// old key for the quiet period. If the old key was exported, the roll is never quiet.
    ///
    /// - Parameters:
    ///   - evenIfNotQuiet: whether to finish the roll although it is not quiet. A `reason` is then required.
    ///   - reason: the reason for the revocation; nil for a text that names the new key.
    /// - Throws: `rollNotQuiet`, with the time that is left if it is known; `rollStateConflict` if the new key is not
    ///   promoted yet, or the roll was abandoned; `lastActiveKey` if no other key pair can replace the old one.
    package func finishRoll(
        _ number: Int, evenIfNotQuiet: Bool, reason: String?, dryRun: Bool, for request: Request
    ) async throws -> RollTransitionResult {
        if let reason { try RevocationRules.validate(reason: reason) }
        guard !evenIfNotQuiet || reason != nil else {
            throw MerchantError(
                .malformed,
                "'now' requires 'reason': state why the roll must be finished although its old key may still be in use"
            )
        }
        let time = confirmedTime.reading()
        let (now, earliest) = (time.wall, time.earliest)
        let nodesWithUnstoredUses = evenIfNotQuiet ? [] : try await nodes.nodes().filter(mayHaveUnstoredUses)
        var result = try await records.write { transaction in
            let roll = try transaction.existingRoll(number)
            let progress = try transaction.view(roll, policy, at: earliest).progress
            switch progress.state {
            case .finished:
                if !dryRun, let from = roll.from {
                    try transaction.rewriteUnchanged(try transaction.existingKeyPair(from))
                }
                return RollTransitionResult(
                    dryRun: dryRun, transitions: [], warnings: [], roll: RollView(roll: roll, progress: progress),
                    nextKeyPairs: 0)
            case .quiet:
                // Uses are stored some seconds after they happen, so look for newer uses in memory.
                if !evenIfNotQuiet, let last = roll.from.flatMap(uses.lastUse) {
                    throw MerchantError(
                        .rollNotQuiet,
                        "the old key was requested just now, at \(last): its quiet period starts again; 'roll status' shows its end"
                    )
                }
                try Self.requireUsesStored(by: nodesWithUnstoredUses)
            case .promoted where evenIfNotQuiet: break
            case .promoted: throw Self.notQuiet(progress, at: time)
            case .started, .certificateStored, .abandoned:
                throw MerchantError(
                    .rollStateConflict,
                    "roll \(roll.rollId) is \(progress.state.rawValue), expected promoted or quiet\(progress.next.map { ": \($0)" } ?? "")"
                )
            }
            guard let old = try roll.from.flatMap({ try transaction.keyPair($0) }) else {
                throw MerchantError(.internalError, "roll \(roll.rollId) has no old key to revoke")
            }
            let plan = try KeyTransitionPlan.revocation(
                of: old, reason: reason ?? "rolled to \(roll.to)", at: time, for: request, in: transaction)
            var warnings = plan.warnings
            if progress.state != .quiet { warnings.append(Self.notQuiet(progress, at: time).detail) }
            let missing = try preparation.missingKeyPairs(of: roll.merchantIdentifier, in: transaction, at: now)
            if !dryRun { try plan.perform(in: transaction, at: now, for: request) }
            return RollTransitionResult(
                dryRun: dryRun, transitions: plan.transitions, warnings: warnings,
                roll: try transaction.view(try transaction.existingRoll(number), policy, at: earliest),
                nextKeyPairs: max(0, missing))
        }
        if !dryRun {
            result.staleNodes = try await nodes.staleNodes()
            result.warnings += result.staleNodes.staleNodeWarnings
            await prepareNextPairs(&result, for: request)
        }
        return result
    }

    /// Each daemon stores its uses every three seconds. A daemon that has not done so for this long cannot write.
    private static let longestPauseBetweenStoredUses = Duration.seconds(15)

    /// Whether another daemon may have used keys within the quiet period without storing these uses. True if the daemon
    /// has a lease but has not stored its uses for ``longestPauseBetweenStoredUses``, or if its lease has ended and it
    /// could still use its caches during the quiet period.
    private func mayHaveUnstoredUses(_ node: NodeState) -> Bool {
        guard !node.isThisDaemon else { return false }
        guard node.leaseRemaining <= .zero else { return node.timeSinceUsesStored > Self.longestPauseBetweenStoredUses }
        return node.cacheRemaining > .zero - policy.quietPeriod
    }

    /// - Parameter nodes: the daemons for which ``mayHaveUnstoredUses(_:)`` is true.
    /// - Throws: `rollNotQuiet`, unless `nodes` is empty.
    private static func requireUsesStored(by nodes: [NodeState]) throws {
        func names(_ nodes: [NodeState]) -> String { nodes.map(\.name.text).joined(separator: ", ") }
        let (running, lost) = (nodes.filter { $0.leaseRemaining > .zero }, nodes.filter { $0.leaseRemaining <= .zero })
        if !lost.isEmpty {
            throw MerchantError(
                .rollNotQuiet,
                "daemons whose lease has ended may have used the old key within the quiet period: \(names(lost)); start them, or run 'node remove' for each one that no longer exists"
            )
        }
        guard !running.isEmpty else { return }
        throw MerchantError(
            .rollNotQuiet,
            "daemons that cannot store their uses of keys may have used the old key: \(names(running)); their logs say why they cannot"
        )
    }

    /// Generates the key pairs for the next roll after a roll was finished. An error is only a warning: the roll is
    /// finished, and the schedule prepares the key pairs later.
    private func prepareNextPairs(_ result: inout RollTransitionResult, for request: Request) async {
        let roll = result.roll.roll
        result.generatedKeyPairs = []
        guard !roll.hasNextPair else { return }
        do {
            let generated = try await preparation.prepareNextPairs(after: roll, for: request)
            result.generatedKeyPairs = generated.map(\.publicKeyHash)
        } catch {
            result.warnings.append("the key pairs for the next roll were not generated; the daemon tries again later")
        }
    }

    /// Abandons a roll. If the new key pair has no certificate yet, it is revoked; otherwise it keeps its state.
    ///
    /// - Throws: `rollStateConflict` if the new key was promoted already, or the roll is finished.
    package func abandonRoll(
        _ number: Int, reason: String?, dryRun: Bool, for request: Request
    ) async throws -> RollTransitionResult {
        if let reason { try RevocationRules.validate(reason: reason) }
        let time = confirmedTime.reading()
        let now = time.wall
        return try await records.write { transaction in
            let roll = try transaction.existingRoll(number)
            let progress = try transaction.view(roll, policy, at: time.earliest).progress
            let to = try transaction.existingKeyPair(roll.to)
            switch progress.state {
            case .abandoned:
                if !dryRun { try transaction.rewriteUnchanged(to) }
                return RollTransitionResult(
                    dryRun: dryRun, transitions: [], warnings: [], roll: RollView(roll: roll, progress: progress))
            case .started, .certificateStored: break
            case .promoted, .quiet, .finished:
                throw MerchantError(
                    .rollStateConflict,
                    "roll \(roll.rollId) is \(progress.state.rawValue), expected started or certificateStored\(progress.state == .finished ? "" : ": to undo the promotion, promote the old key, then abandon the roll")"
                )
            }
            var plan = KeyTransitionPlan(to)
            if to.state == .pending {
                plan = try KeyTransitionPlan.revocation(
                    of: to, reason: reason ?? "roll \(roll.rollId) abandoned", at: time, for: request, in: transaction)
            }
            if !dryRun {
                try transaction.endRoll(
                    roll, .abandoned, reason: reason ?? "an admin abandoned the roll", at: now, for: request)
                try plan.perform(in: transaction, at: now, for: request)
            }
            return RollTransitionResult(
                dryRun: dryRun, transitions: plan.transitions, warnings: plan.warnings,
                roll: try transaction.view(try transaction.existingRoll(number), policy, at: time.earliest))
        }
    }

    /// Returns the error `rollNotQuiet`. Its message has the time at which the roll becomes quiet, if that is known.
    private static func notQuiet(_ progress: RollProgress, at time: ClockReading) -> MerchantError {
        guard let quietAt = progress.quietAt else {
            return MerchantError(
                .rollNotQuiet, "the old key may still be in use: \(progress.next ?? "the daemon does not see its uses")"
            )
        }
        let milliseconds = quietAt.millisecondsSince1970 - time.earliest.millisecondsSince1970
        let minutes = max(0, (milliseconds + 59_999) / 60_000)
        let clockNote =
            quietAt <= time.wall
            ? "; the machine's clock is already past that time, but differs from the daemon's confirmed time: see clockUnconfirmed in 'status'"
            : ""
        return MerchantError(
            .rollNotQuiet,
            "the old key may still be in use: the roll becomes quiet at \(quietAt), in \(Duration.seconds(minutes * 60).daysHoursMinutes), if nobody requests the old key until then\(clockNote)"
        )
    }
}

/// Which rolls a list contains: the open ones, or those in one state.
package enum RollStateFilter: Hashable, Sendable {
    case open
    case state(RollState)
}

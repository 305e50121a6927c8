package import MerchantCore
package import Vocabulary

/// The result of finishing or abandoning a roll. A dry run returns the result that the operation would have.
package struct RollTransitions: Sendable {
    package let dryRun: Bool
    package let transitions: [KeyTransitions.Transition]
    package let warnings: [String]
    package let roll: RollView
}

/// Starts, lists, finishes and abandons key rolls.
package struct RollOperations: Sendable {
    package typealias Records = Transactions<
        any MerchantReading & KeyPairReading & KeyUseReading & RollReading, any KeyTransitionWriting
    >

    private let records: Records
    private let policy: RollPolicy
    private let generation: KeyPairGeneration
    private let preparation: SuccessorPreparation
    private let uses: KeyUses
    private let clock: any WallClock
    private let confirmedTime: ConfirmedTime

    package init(
        records: Records, policy: RollPolicy, generation: KeyPairGeneration, preparation: SuccessorPreparation,
        uses: KeyUses, clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.policy = policy
        self.generation = generation
        self.preparation = preparation
        self.uses = uses
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// Starts to replace a merchant's key pair. When this returns, the new key pair and its CSR exist. If a roll of the
    /// algorithm is open already, this returns that roll.
    ///
    /// - Parameter algorithm: nil stands for the algorithm of the merchant's current key. If the merchant has no
    ///   current key, or one of each algorithm, nil stands for EC_v1.
    /// - Returns: the roll, and whether it was started now.
    package func startRoll(
        of identifier: MerchantIdentifier, algorithm: KeyAlgorithm?, for request: Request
    ) async throws -> (view: RollView, isNew: Bool) {
        let now = clock.now
        let (algorithm, needsKeyPair) = try await records.read { reading in
            _ = try reading.existingMerchant(identifier)
            let algorithm = try algorithm ?? reading.usualAlgorithm(of: identifier)
            let isOpen = try reading.openRoll(of: identifier, algorithm: algorithm) != nil
            return (
                algorithm, try !isOpen && successor(of: identifier, algorithm, in: reading, at: now).choice == nil
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
            let (current, choice) = try successor(of: identifier, algorithm, in: transaction, at: now)
            let to: KeyPair
            if let choice {
                to = choice
            } else if let new {
                to = try KeyPairGeneration.insert(new, of: identifier, at: now, for: request, in: transaction)
            } else {
                throw MerchantError(.overloaded, "the merchant's keys changed during the request: repeat it")
            }
            let begun = try transaction.beginRoll(
                of: identifier, algorithm: algorithm, from: current?.publicKeyHash, to: to.publicKeyHash, at: now,
                for: request)
            try request.idempotency.remember(begun.rollId, at: confirmedTime.reading(), in: transaction)
            return (try transaction.view(begun, policy, at: confirmedTime.reading().earliest), true)
        }
    }

    /// The merchant's current key pair, and the stored key pair that can replace it; nil if a new one must be
    /// generated.
    private func successor(
        of merchant: MerchantIdentifier, _ algorithm: KeyAlgorithm, in reading: any KeyPairReading, at now: Timestamp
    ) throws -> (current: KeyPair?, choice: KeyPair?) {
        let keyPairs = try reading.keyPairs(of: merchant).filter {
            $0.purpose == .paymentProcessing && $0.algorithm == algorithm
        }
        let current = keyPairs.first { $0.state == .current }
        let choice = SuccessorChoice.choose(
            among: try keyPairs.filter { $0.state == .pending || $0.state == .standby }.map {
                ($0, try reading.certificates(of: $0.publicKeyHash).answering(at: now))
            }, current: try current.flatMap { try reading.certificates(of: $0.publicKeyHash).answering(at: now) },
            earliestEnd: now.adding(policy.renewBefore + policy.jitter))
        return (current, choice)
    }

    package func roll(_ number: Int) async throws -> RollView {
        let now = confirmedTime.reading().earliest
        return try await records.read { try $0.view(try $0.existingRoll(number), policy, at: now) }
    }

    /// The rolls that match, newest first, starting before `cursor`, at most `limit`.
    package func rolls(
        of merchant: MerchantIdentifier?, state: RollStateFilter?, before cursor: Int?, limit: Int
    ) async throws -> [RollView] {
        let now = confirmedTime.reading().earliest
        let step: RollFilter.Step? =
            switch state {
            case nil: nil
            case .open: .open
            case .state(let state): .state(state, quietIfIdleSince: now.adding(.zero - policy.quietPeriod))
            }
        return try await records.read { reading in
            try reading.rolls(RollFilter(merchant: merchant, step: step), before: cursor, limit: limit)
                .map { try reading.view($0, policy, at: now) }
        }
    }

    /// Finishes a roll: revokes its old key pair. The roll must be quiet: nobody has requested the old key for the
    /// quiet period.
    ///
    /// - Parameters:
    ///   - hurries: finishes the roll even if it is not quiet yet. A `reason` is then required.
    /// - Throws: `rollNotQuiet` with the time that is left; `rollStateConflict` if the new key is not promoted yet, or
    ///   the roll was abandoned.
    package func finishRoll(
        _ number: Int, hurries: Bool, reason: String?, dryRun: Bool, for request: Request
    ) async throws -> RollTransitions {
        if let reason { try RevocationRules.validate(reason: reason) }
        guard !hurries || reason != nil else {
            throw MerchantError(
                .malformed, "'now' is true without a 'reason': give the reason not to wait until the old key is quiet")
        }
        let time = confirmedTime.reading()
        // The earlier of the machine's clock and the confirmed time, so that a clock that is ahead does not end a quiet
        // period.
        let (now, earliest) = (time.wall, time.earliest)
        let outcome = try await records.write { transaction in
            let roll = try transaction.existingRoll(number)
            let standing = try transaction.view(roll, policy, at: earliest).standing
            switch standing.state {
            case .finished:
                return RollTransitions(
                    dryRun: dryRun, transitions: [], warnings: [], roll: RollView(roll: roll, standing: standing))
            case .quiet:
                // Uses are stored some seconds after they happen, so the newest ones may only be in memory.
                if !hurries, let last = roll.from.flatMap(uses.lastUse) {
                    throw MerchantError(
                        .rollNotQuiet, "the old key was requested just now, at \(last): its quiet period starts again")
                }
            case .promoted where hurries: break
            case .promoted: throw Self.notQuiet(standing, at: time)
            case .started, .certificateStored, .abandoned:
                throw MerchantError(
                    .rollStateConflict,
                    "roll \(roll.rollId) is \(standing.state.rawValue), expected promoted or quiet\(standing.next.map { ": \($0)" } ?? "")"
                )
            }
            guard let old = try roll.from.flatMap({ try transaction.keyPair($0) }) else {
                throw MerchantError(.internalError, "roll \(roll.rollId) has no old key to revoke")
            }
            let plan = try KeyTransitionPlan.revocation(
                of: old, reason: reason ?? "rolled to \(roll.to)", at: time, for: request, in: transaction)
            var warnings = plan.warnings
            if standing.state != .quiet { warnings.append(Self.notQuiet(standing, at: time).detail) }
            if !dryRun { try plan.perform(in: transaction, at: now, for: request) }
            return RollTransitions(
                dryRun: dryRun, transitions: plan.transitions, warnings: warnings,
                roll: try transaction.view(try transaction.existingRoll(number), policy, at: earliest))
        }
        // If this fails, the roll is still finished, and the schedule prepares the key pairs later.
        if !dryRun { _ = try? await preparation.prepareNextPairs(limit: 16, for: request) }
        return outcome
    }

    /// Abandons a roll. If its new key pair has no certificate yet, the key pair is revoked; else it keeps its state.
    package func abandonRoll(
        _ number: Int, reason: String?, dryRun: Bool, for request: Request
    ) async throws -> RollTransitions {
        if let reason { try RevocationRules.validate(reason: reason) }
        let time = confirmedTime.reading()
        let now = time.wall
        return try await records.write { transaction in
            let roll = try transaction.existingRoll(number)
            let standing = try transaction.view(roll, policy, at: time.earliest).standing
            let to = try transaction.existingKeyPair(roll.to)
            switch standing.state {
            case .abandoned:
                return RollTransitions(
                    dryRun: dryRun, transitions: [], warnings: [], roll: RollView(roll: roll, standing: standing))
            case .started, .certificateStored: break
            case .promoted, .quiet, .finished:
                throw MerchantError(
                    .rollStateConflict,
                    "roll \(roll.rollId) is \(standing.state.rawValue), expected started or certificateStored: promote the old key first to undo a promotion"
                )
            }
            var plan = KeyTransitionPlan(to)
            if to.state == .pending {
                plan = try KeyTransitionPlan.revocation(
                    of: to, reason: reason ?? "roll \(roll.rollId) abandoned", at: time, for: request, in: transaction)
            }
            if !dryRun {
                try transaction.end(roll, .abandoned, reason: reason ?? "by an admin", at: now, for: request)
                try plan.perform(in: transaction, at: now, for: request)
            }
            return RollTransitions(
                dryRun: dryRun, transitions: plan.transitions, warnings: plan.warnings,
                roll: try transaction.view(try transaction.existingRoll(number), policy, at: time.earliest))
        }
    }

    private static func notQuiet(_ standing: RollStanding, at time: ClockReading) -> MerchantError {
        guard let quietAt = standing.quietAt else {
            return MerchantError(
                .rollNotQuiet, "the old key may still be in use: \(standing.next ?? "the daemon does not see its uses")"
            )
        }
        let left = quietAt.millisecondsSince1970 - time.earliest.millisecondsSince1970
        let minutes = max(0, (left + 59_999) / 60_000)
        let clock =
            quietAt <= time.wall
            ? "; the machine's clock is past that time, but is not confirmed: see clockUnconfirmed in 'status'" : ""
        return MerchantError(
            .rollNotQuiet,
            "the old key may still be in use: it is quiet at \(quietAt), in \(minutes / 1440) days \(minutes / 60 % 24) hours \(minutes % 60) minutes, if it is not requested until then\(clock)"
        )
    }
}

/// The filter of a list of rolls by state.
package enum RollStateFilter: Hashable, Sendable {
    case open
    case state(RollState)
}

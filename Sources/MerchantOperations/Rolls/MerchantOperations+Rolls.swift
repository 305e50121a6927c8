package import MerchantCore
package import Vocabulary

/// A roll with where it stands.
package struct RollView: Sendable {
    package let roll: Roll
    package let standing: RollStanding
}

/// What ending a roll did, or as a dry run would do.
package struct RollTransitions: Sendable {
    package let dryRun: Bool
    package let transitions: [KeyTransitions.Transition]
    package let warnings: [String]
    package let roll: RollView
}

extension MerchantOperations {
    /// Begins to replace a merchant's key pair: a key pair and its CSR are there when this returns. Where a roll is open, that
    /// one is the answer.
    ///
    /// - Parameter algorithm: nil: that of the merchant's only current key, EC_v1 where there is none or more than one.
    /// - Returns: whether it was begun now.
    package func startRoll(
        of identifier: MerchantIdentifier, algorithm: KeyAlgorithm?, for request: Request
    ) async throws -> (view: RollView, isNew: Bool) {
        let now = clock.now
        let (algorithm, needsKeyPair) = try await repository.read { reading in
            _ = try reading.existingMerchant(identifier)
            let algorithm = try algorithm ?? reading.usualAlgorithm(of: identifier)
            let isOpen = try reading.openRoll(of: identifier, algorithm: algorithm) != nil
            return (
                algorithm, try !isOpen && successor(of: identifier, algorithm, in: reading, at: now).choice == nil
            )
        }
        let new =
            needsKeyPair
            ? try await newKeyPair(algorithm, .paymentProcessing, for: identifier) : nil
        return try await repository.write { transaction in
            if let number = try request.idempotency.earlierResource(in: transaction).flatMap(Int.init),
                let roll = try transaction.roll(number)
            {
                return (try view(roll, in: transaction, at: confirmedTime.reading().earliest), false)
            }
            _ = try transaction.existingMerchant(identifier)
            if let open = try transaction.openRoll(of: identifier, algorithm: algorithm) {
                return (try view(open, in: transaction, at: confirmedTime.reading().earliest), false)
            }
            let (current, choice) = try successor(of: identifier, algorithm, in: transaction, at: now)
            let to: KeyPair
            if let choice {
                to = choice
            } else if let new {
                to = try Self.insert(new, of: identifier, at: now, for: request, in: transaction)
            } else {
                throw MerchantError(.overloaded, "the merchant's keys changed meanwhile, expected the request again")
            }
            let begun = try transaction.beginRoll(
                of: identifier, algorithm: algorithm, from: current?.publicKeyHash, to: to.publicKeyHash, at: now,
                for: request)
            try request.idempotency.remember(begun.rollId, at: confirmedTime.reading(), in: transaction)
            return (try view(begun, in: transaction, at: confirmedTime.reading().earliest), true)
        }
    }

    private func successor(
        of merchant: MerchantIdentifier, _ algorithm: KeyAlgorithm, in reading: any MerchantReading, at now: Timestamp
    ) throws -> (current: KeyPair?, choice: KeyPair?) {
        let keyPairs = try reading.keyPairs(of: merchant).filter {
            $0.purpose == .paymentProcessing && $0.algorithm == algorithm
        }
        let current = keyPairs.first { $0.state == .current }
        let choice = SuccessorChoice.choose(
            among: try keyPairs.filter { $0.state == .pending || $0.state == .standby }.map {
                ($0, try reading.certificates(of: $0.publicKeyHash).answering(at: now))
            }, current: try current.flatMap { try reading.certificates(of: $0.publicKeyHash).answering(at: now) },
            earliestEnd: now.adding(rolls.renewBefore + rolls.jitter))
        return (current, choice)
    }

    package func roll(_ number: Int) async throws -> RollView {
        let now = confirmedTime.reading().earliest
        return try await repository.read { try view(try $0.existingRoll(number), in: $0, at: now) }
    }

    /// Newest first.
    package func rolls(
        of merchant: MerchantIdentifier?, state: RollStateFilter?, before cursor: Int?, limit: Int
    ) async throws -> [RollView] {
        let now = confirmedTime.reading().earliest
        let step: RollFilter.Step? =
            switch state {
            case nil: nil
            case .open: .open
            case .state(let state): .state(state, quietIfIdleSince: now.adding(.zero - rolls.quietPeriod))
            }
        return try await repository.read { reading in
            try reading.rolls(RollFilter(merchant: merchant, step: step), before: cursor, limit: limit)
                .map { try view($0, in: reading, at: now) }
        }
    }

    /// Revokes a roll's old key pair once nobody asks for it any more.
    ///
    /// - Parameters:
    ///   - hurries: does not wait for that; then `reason` says why.
    /// - Throws: `rollNotQuiet`, saying how far off it is; `rollStateConflict` before the promotion.
    package func finishRoll(
        _ number: Int, hurries: Bool, reason: String?, dryRun: Bool, for request: Request
    ) async throws -> RollTransitions {
        if let reason { try Self.validate(reason: reason) }
        guard !hurries || reason != nil else {
            throw MerchantError(
                .malformed, "'now' is true without a 'reason', expected why the old key is not waited for")
        }
        let time = confirmedTime.reading()
        // Whether nobody asks for the old key any more is a matter of time that has really passed.
        let (now, earliest) = (time.wall, time.earliest)
        let outcome = try await repository.write { transaction in
            let roll = try transaction.existingRoll(number)
            let standing = try view(roll, in: transaction, at: earliest).standing
            switch standing.state {
            case .finished:
                return RollTransitions(
                    dryRun: dryRun, transitions: [], warnings: [], roll: RollView(roll: roll, standing: standing))
            case .quiet:
                // Its stored uses are some seconds old; what is not stored yet is younger.
                if !hurries, let last = roll.from.flatMap(uses.lastUse) {
                    throw MerchantError(
                        .rollNotQuiet, "the old key was asked for only now, at \(last): its quiet period begins again")
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
                throw MerchantError(.internalError, "roll \(roll.rollId) is open without an old key")
            }
            let plan = try Self.revocation(
                of: old, reason: reason ?? "rolled to \(roll.to)", at: time, for: request, in: transaction)
            var warnings = plan.warnings
            if standing.state != .quiet { warnings.append(Self.notQuiet(standing, at: time).detail) }
            if !dryRun { try plan.perform(in: transaction, at: now, for: request) }
            return RollTransitions(
                dryRun: dryRun, transitions: plan.transitions, warnings: warnings,
                roll: try view(try transaction.existingRoll(number), in: transaction, at: earliest))
        }
        // The roll is finished whatever becomes of this; the schedule makes up for it.
        if !dryRun { _ = try? await prepareNextPairs(limit: 16, for: request) }
        return outcome
    }

    /// Gives a roll up. A new key pair without a certificate is revoked; one with a certificate stays as it is.
    package func abandonRoll(
        _ number: Int, reason: String?, dryRun: Bool, for request: Request
    ) async throws -> RollTransitions {
        if let reason { try Self.validate(reason: reason) }
        let time = confirmedTime.reading()
        let now = time.wall
        return try await repository.write { transaction in
            let roll = try transaction.existingRoll(number)
            let standing = try view(roll, in: transaction, at: time.earliest).standing
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
                plan = try Self.revocation(
                    of: to, reason: reason ?? "roll \(roll.rollId) abandoned", at: time, for: request, in: transaction)
            }
            if !dryRun {
                try transaction.end(roll, .abandoned, reason: reason ?? "by an admin", at: now, for: request)
                try plan.perform(in: transaction, at: now, for: request)
            }
            return RollTransitions(
                dryRun: dryRun, transitions: plan.transitions, warnings: plan.warnings,
                roll: try view(try transaction.existingRoll(number), in: transaction, at: time.earliest))
        }
    }

    func view(_ roll: Roll, in reading: any MerchantReading, at now: Timestamp) throws -> RollView {
        let to = try reading.existingKeyPair(roll.to)
        let from = try roll.from.flatMap { try reading.keyPair($0) }
        return RollView(
            roll: roll,
            standing: RollLifecycle.standing(
                of: roll, from: from, fromUse: try from.flatMap { try reading.keyUse(of: $0.publicKeyHash) }, to: to,
                toUse: try reading.keyUse(of: roll.to), policy: rolls, at: now))
    }

    private static func notQuiet(_ standing: RollStanding, at time: ClockReading) -> MerchantError {
        guard let quietAt = standing.quietAt else {
            return MerchantError(
                .rollNotQuiet, "the old key is not known to be out of use: \(standing.next ?? "its uses are not seen")")
        }
        let left = quietAt.millisecondsSince1970 - time.earliest.millisecondsSince1970
        let minutes = max(0, (left + 59_999) / 60_000)
        let clock =
            quietAt <= time.wall
            ? "; the machine's clock is past that time, but is not confirmed: see clockUnconfirmed in 'status'" : ""
        return MerchantError(
            .rollNotQuiet,
            "the old key may still be in use: it is quiet at \(quietAt), in \(minutes / 1440) days \(minutes / 60 % 24) hours \(minutes % 60) minutes, if nobody asks for it until then\(clock)"
        )
    }
}

/// Which rolls a list holds.
package enum RollStateFilter: Hashable, Sendable {
    case open
    case state(RollState)
}

extension MerchantReading {
    /// - Throws: `rollNotFound`.
    func existingRoll(_ number: Int) throws -> Roll {
        guard let roll = try roll(number) else {
            throw MerchantError(.rollNotFound, "there is no roll \(number)")
        }
        return roll
    }

    func usualAlgorithm(of merchant: MerchantIdentifier) throws -> KeyAlgorithm {
        let inUse = Set(
            try keyPairs(of: merchant).filter { $0.purpose == .paymentProcessing && $0.state == .current }
                .map(\.algorithm))
        return inUse.count == 1 ? inUse.first ?? .ecV1 : .ecV1
    }
}

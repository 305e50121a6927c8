package import MerchantCore
import Vocabulary

/// How much work of each kind one pass of the schedule has done.
package struct ScheduleReport: Hashable, Sendable {
    package var rollsStarted = 0
    package var warnings = 0
    package var reminders = 0
    package var rollsFinished = 0
    /// Finished rolls for which the key pair of the next roll was prepared.
    package var pairsPrepared = 0
    /// Rolls that could not be started. The schedule tries again a day later.
    package var failures = 0

    package init() {}

    package var isEmpty: Bool { self == ScheduleReport() }
}

/// Performs scheduled work: starts rolls, sends expiry warnings and reminders, finishes quiet rolls, and prepares key
/// pairs.
package struct RenewalSchedule: Sendable {
    package typealias Records = Transactions<
        any ExpiryScheduleReading & RollReading,
        any MerchantReading & KeyPairWriting & KeyUseWriting & RollWriting & ExpiryScheduleWriting & ChangeRecording
    >

    private let records: Records
    private let policy: RollPolicy
    private let rolls: RollOperations
    private let preparation: SuccessorPreparation
    private let clock: any WallClock
    private let confirmedTime: ConfirmedTime

    package init(
        records: Records, policy: RollPolicy, rolls: RollOperations, preparation: SuccessorPreparation,
        clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.policy = policy
        self.rolls = rolls
        self.preparation = preparation
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// The most key pairs or rolls that one step handles.
    private static let stepSize = 64
    /// The most steps of one kind of work in a pass. With many merchants, much work is due at the first start; the
    /// limit keeps one kind of work from delaying the others.
    private static let mostSteps = 64
    /// How long the schedule waits after a roll could not be started.
    private static let retryAfter = Duration.seconds(86_400)

    /// Does all work that is due: starts rolls, warns of expiry, reminds of missing steps, finishes quiet rolls if the
    /// settings say so, and prepares key pairs.
    ///
    /// An event is stored in the same transaction as the record that it was raised, so a crash neither repeats nor
    /// skips one.
    package func runSchedule(as caller: Caller) async throws -> ScheduleReport {
        let request = Request(caller: caller, requestId: "schedule")
        var report = ScheduleReport()
        try await inSteps { try await checkExpiry(for: request, &report) }
        try await inSteps { try await remind(for: request, &report) }
        try await inSteps {
            try await FutureTimeCorrection(records: records).run(at: confirmedTime.reading(), limit: Self.stepSize)
        }
        if policy.finishesWhenQuiet { try await inSteps { try await finishQuietRolls(for: request, &report) } }
        try await inSteps {
            let count = try await preparation.prepareNextPairs(limit: Self.stepSize, for: request)
            report.pairsPrepared += count
            return count
        }
        return report
    }

    /// Repeats `step` until no work is left, at most ``mostSteps`` times.
    ///
    /// - Parameter step: returns how much it handled. Less than ``stepSize`` means that no work is left.
    private func inSteps(_ step: () async throws -> Int) async throws {
        for _ in 0..<Self.mostSteps where try await step() < Self.stepSize { return }
    }

    private func checkExpiry(for request: Request, _ report: inout ScheduleReport) async throws -> Int {
        let now = clock.now
        let due = try await records.read { try $0.keyPairsToWatch(at: now, limit: Self.stepSize) }
        var failed: Set<PublicKeyHash> = []
        for ending in due where needsRenewal(ending, at: now) {
            do {
                let started = try await rolls.startRoll(
                    of: ending.keyPair.merchantIdentifier, algorithm: ending.keyPair.algorithm, for: request)
                if started.isNew { report.rollsStarted += 1 }
            } catch {
                // A failure for one merchant must not stop the warnings of the others.
                failed.insert(ending.keyPair.publicKeyHash)
            }
        }
        report.failures += failed.count
        let retried = failed
        report.warnings += try await records.write { transaction in
            var count = 0
            for ending in due {
                // Read the key pair again, because it may have been promoted or revoked since `due` was read.
                guard let keyPair = try transaction.keyPair(ending.keyPair.publicKeyHash), keyPair.state.isActive
                else { continue }
                let present = ExpiringKeyPair(keyPair: keyPair, notAfter: ending.notAfter)
                if try warn(of: present, in: transaction) { count += 1 }
                try transaction.setNextWatch(
                    of: keyPair.publicKeyHash,
                    at: nextWatch(of: present, isRetried: retried.contains(keyPair.publicKeyHash)))
            }
            return count
        }
        return due.count
    }

    private func needsRenewal(_ ending: ExpiringKeyPair, at now: Timestamp) -> Bool {
        ending.keyPair.state == .current && ending.keyPair.purpose == .paymentProcessing
            && policy.renewal(of: ending.notAfter, merchant: ending.keyPair.merchantIdentifier) <= now
    }

    /// When the key pair must be checked next; nil if nothing more can become due for its certificate.
    private func nextWatch(of ending: ExpiringKeyPair, isRetried: Bool) -> Timestamp? {
        let now = clock.now
        let renewal = policy.renewal(of: ending.notAfter, merchant: ending.keyPair.merchantIdentifier)
        let retry = isRetried ? now.adding(Self.retryAfter) : nil
        return [retry, renewal > now ? renewal : nil, ExpiryWarning.next(ends: ending.notAfter, after: now)]
            .compactMap { $0 }.min()
    }

    /// Raises an event if the certificate has passed a threshold of ``ExpiryWarning`` for which no event was raised.
    ///
    /// - Returns: whether it raised an event.
    private func warn(
        of ending: ExpiringKeyPair,
        in transaction: any MerchantReading & KeyPairReading & KeyUseReading & RollReading & ExpiryScheduleWriting
            & ChangeRecording
    ) throws -> Bool {
        let (now, keyPair, ends) = (clock.now, ending.keyPair, ending.notAfter)
        // Apple no longer encrypts to a retiring key, so the expiry of its certificate needs no warning.
        guard keyPair.state != .retiring, let days = ExpiryWarning.due(ends: ends, at: now),
            let severity = ExpirySeverity.severity(ends: ends, state: keyPair.state, at: now),
            try !transaction.wasWarned(of: ends, days: days, key: keyPair.publicKeyHash)
        else { return false }
        try transaction.noteWarning(of: ends, days: days, key: keyPair.publicKeyHash, at: now)
        let roll =
            keyPair.purpose == .paymentProcessing
            ? try transaction.openRoll(of: keyPair.merchantIdentifier, algorithm: keyPair.algorithm) : nil
        let missing = try roll.flatMap {
            try transaction.view($0, policy, at: confirmedTime.reading().earliest).standing.next
        }
        let noun = keyPair.purpose == .identity ? "the identity certificate" : "the certificate"
        try transaction.append(
            Event(
                days == 0 ? .certificateExpired : .certificateExpiringSoon, severity, at: now,
                merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash, rollId: roll?.rollId,
                detail:
                    "\(noun) of the \(keyPair.state.rawValue) key \(days == 0 ? "ended" : "ends") at \(ends)\(missing.map { "; to do: \($0)" } ?? "")"
            ))
        if [60, 7].contains(days) { try warnBelowTarget(keyPair, ends: ends, in: transaction) }
        return true
    }

    /// Raises an event if the merchant is below its target. Called when ``TargetRules`` raises the severity of that: 60
    /// and 7 days before the current certificate expires.
    private func warnBelowTarget(
        _ keyPair: KeyPair, ends: Timestamp, in transaction: any MerchantReading & KeyPairReading & ChangeRecording
    ) throws {
        guard keyPair.state == .current, keyPair.purpose == .paymentProcessing,
            let merchant = try transaction.merchant(keyPair.merchantIdentifier)
        else { return }
        let active = try transaction.countActivePaymentProcessingKeyPairs(of: merchant.identifier)
        guard active < merchant.targetActiveKeyPairs else { return }
        try transaction.append(
            Event(
                .belowTarget, TargetRules.severity(lostAll: false, currentEnds: ends, at: clock.now), at: clock.now,
                merchant: merchant.identifier,
                detail:
                    "the merchant has \(active) of \(merchant.targetActiveKeyPairs) active key pairs, and the current one's certificate ends at \(ends)"
            ))
    }

    /// Raises an event for each open roll whose reminder is due and that waits for a merchant, an admin or Apple.
    private func remind(for request: Request, _ report: inout ScheduleReport) async throws -> Int {
        let now = clock.now
        let due = try await records.read { try $0.rollsToRemind(at: now, limit: Self.stepSize) }
        guard !due.isEmpty else { return 0 }
        report.reminders += try await records.write { transaction in
            var count = 0
            for roll in due {
                guard var open = try transaction.roll(roll.number), open.isOpen else { continue }
                open.remindAt = now.adding(policy.remindEvery)
                try transaction.update(open)
                let standing = try transaction.view(open, policy, at: confirmedTime.reading().earliest).standing
                switch standing.waitingFor {
                case .time, .none: continue
                case .merchant, .admin, .apple: break
                }
                try transaction.append(
                    Event(
                        .rollWaiting, standing.waitingFor == .merchant ? .warning : .notice, at: now,
                        merchant: open.merchantIdentifier, key: open.to, rollId: open.rollId,
                        detail:
                            "roll \(open.rollId) has been waiting for \(standing.waitingFor.rawValue) since \(standing.since)\(standing.next.map { ": \($0)" } ?? "")"
                    ))
                count += 1
            }
            return count
        }
        return due.count
    }

    private func finishQuietRolls(for request: Request, _ report: inout ScheduleReport) async throws -> Int {
        let due = try await records.read {
            try $0.rollsIdle(
                since: confirmedTime.reading().earliest.adding(.zero - policy.quietPeriod), limit: Self.stepSize)
        }
        var finished = 0
        for roll in due {
            do {
                _ = try await rolls.finishRoll(roll.number, hurries: false, reason: nil, dryRun: false, for: request)
                finished += 1
            } catch let error as MerchantError
                where [.rollNotQuiet, .rollStateConflict, .lastActiveKey].contains(error.code)
            {
                // Since `due` was read, the old key was requested or a key changed its state. The roll stays open.
            }
        }
        report.rollsFinished += finished
        // The next step reads a roll again that was not finished, so only finished rolls count as handled.
        return finished
    }
}

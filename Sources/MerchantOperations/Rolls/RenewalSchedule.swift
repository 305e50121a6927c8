package import MerchantCore
import Vocabulary

/// How much work of each kind one run of the schedule has done.
package struct ScheduleReport: Hashable, Sendable {
    package var rollsStarted = 0
    /// Events about certificates that have expired or expire soon.
    package var warnings = 0
    /// Events about rolls that wait for a merchant, an admin or Apple.
    package var reminders = 0
    package var rollsFinished = 0
    /// Finished rolls after which the key pairs for the merchant's next roll were prepared.
    package var nextRollsPrepared = 0
    /// Rolls that could not be started. The schedule tries again after a day at the latest.
    package var failures = 0

    package init() {}

    package var isEmpty: Bool { self == ScheduleReport() }
}

/// Performs scheduled work: starts rolls, sends expiry warnings and reminders, finishes quiet rolls, and prepares key
/// pairs.
///
/// A roll is quiet if the new key is promoted and has decrypted a token, and nobody has requested the old key for the
/// quiet period. If the old key was exported, the roll is never quiet.
package struct RenewalSchedule: Sendable {
    package typealias Records = Transactions<
        any ExpiryScheduleReading & RollReading,
        any MerchantReading & KeyPairWriting & KeyUseWriting & RollWriting & ExpiryScheduleWriting & ChangeRecording
    >

    private let records: Records
    private let currentPolicy: CurrentValue<RollPolicy>
    private var policy: RollPolicy { currentPolicy.value }
    private let rolls: RollOperations
    private let preparation: SuccessorPreparation
    private let clock: any WallClock
    /// Quiet periods end by the earlier of the confirmed time and the machine's clock, so that a machine clock that is
    /// ahead does not end a quiet period early.
    private let confirmedTime: ConfirmedTime

    package init(
        records: Records, policy: CurrentValue<RollPolicy>, rolls: RollOperations, preparation: SuccessorPreparation,
        clock: any WallClock, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        currentPolicy = policy
        self.rolls = rolls
        self.preparation = preparation
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    /// The largest number of key pairs or rolls that one step handles.
    private static let stepSize = 64
    /// The largest number of steps that one run makes for one kind of work. With many merchants, much work is due at
    /// the first start; the limit keeps one kind of work from delaying the others.
    private static let maximumSteps = 64
    /// The longest time that the schedule waits after a roll could not be started.
    private static let retryAfter = Duration.seconds(86_400)

    /// Does the work that is due: starts rolls, warns of expiry, reminds of missing steps, corrects stored times that
    /// are in the future, finishes quiet rolls if the settings say so, and prepares key pairs.
    ///
    /// The transaction that stores an event also records that the event was raised. So a crash neither repeats nor
    /// skips an event.
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
            report.nextRollsPrepared += count
            return count
        }
        return report
    }

    /// Repeats `step` until no work is left, at most ``maximumSteps`` times.
    ///
    /// - Parameter step: returns how many key pairs or rolls it handled. Fewer than ``stepSize`` means that no work is
    ///   left.
    private func inSteps(_ step: () async throws -> Int) async throws {
        for _ in 0..<Self.maximumSteps {
            if try await step() < Self.stepSize { return }
        }
    }

    /// Starts rolls and warns of expiry, for key pairs whose expiry check is due.
    ///
    /// - Returns: the number of key pairs that were due.
    private func checkExpiry(for request: Request, _ report: inout ScheduleReport) async throws -> Int {
        let now = clock.now
        let due = try await records.read { try $0.keyPairsDueForExpiryCheck(at: now, limit: Self.stepSize) }
        var failed: Set<PublicKeyHash> = []
        for expiring in due where needsRoll(expiring, at: now) {
            do {
                let started = try await rolls.startRoll(
                    of: expiring.keyPair.merchantIdentifier, algorithm: expiring.keyPair.algorithm, for: request)
                if started.isNew { report.rollsStarted += 1 }
            } catch {
                // A failure for one merchant must not prevent the warnings for the others.
                failed.insert(expiring.keyPair.publicKeyHash)
            }
        }
        report.failures += failed.count
        let failedRolls = failed
        report.warnings += try await records.write { transaction in
            var count = 0
            for expiring in due {
                // Read the key pair again, because it may have been promoted or revoked since `due` was read.
                guard let keyPair = try transaction.keyPair(expiring.keyPair.publicKeyHash), keyPair.state.isActive
                else { continue }
                let reread = ExpiringKeyPair(keyPair: keyPair, notAfter: expiring.notAfter)
                if try warn(of: reread, in: transaction) { count += 1 }
                try transaction.setNextExpiryCheck(
                    of: keyPair.publicKeyHash,
                    at: nextCheck(of: reread, rollFailed: failedRolls.contains(keyPair.publicKeyHash)))
            }
            return count
        }
        return due.count
    }

    /// Whether a roll of the key pair is due.
    private func needsRoll(_ expiring: ExpiringKeyPair, at now: Timestamp) -> Bool {
        expiring.keyPair.state == .current && expiring.keyPair.purpose == .paymentProcessing
            && policy.renewal(of: expiring.notAfter, merchant: expiring.keyPair.merchantIdentifier) <= now
    }

    /// When the key pair must be checked next; nil if its certificate has passed all thresholds.
    ///
    /// - Parameter rollFailed: whether a roll of the key pair was due and could not be started.
    private func nextCheck(of expiring: ExpiringKeyPair, rollFailed: Bool) -> Timestamp? {
        let now = clock.now
        let renewal = policy.renewal(of: expiring.notAfter, merchant: expiring.keyPair.merchantIdentifier)
        let retry = rollFailed ? now.adding(Self.retryAfter) : nil
        return [retry, renewal > now ? renewal : nil, ExpiryWarning.next(expiry: expiring.notAfter, after: now)]
            .compactMap { $0 }.min()
    }

    /// Raises an event if the certificate has passed a threshold of ``ExpiryWarning`` for which no event was raised.
    ///
    /// - Returns: whether it raised an event.
    private func warn(
        of expiring: ExpiringKeyPair,
        in transaction: any MerchantReading & KeyPairReading & KeyUseReading & RollReading & ExpiryScheduleWriting
            & ChangeRecording
    ) throws -> Bool {
        let (now, keyPair, expiry) = (clock.now, expiring.keyPair, expiring.notAfter)
        // Apple no longer encrypts to a retiring key, so the expiry of its certificate needs no warning.
        guard keyPair.state != .retiring, let days = ExpiryWarning.due(expiry: expiry, at: now),
            let severity = ExpirySeverity.severity(expiry: expiry, state: keyPair.state, at: now),
            try !transaction.wasExpiryWarningSent(of: expiry, days: days, key: keyPair.publicKeyHash)
        else { return false }
        try transaction.recordExpiryWarning(of: expiry, days: days, key: keyPair.publicKeyHash, at: now)
        let roll =
            keyPair.purpose == .paymentProcessing
            ? try transaction.openRoll(of: keyPair.merchantIdentifier, algorithm: keyPair.algorithm) : nil
        let nextStep = try roll.flatMap {
            try transaction.view($0, policy, at: confirmedTime.reading().earliest).progress.next
        }
        let noun = keyPair.purpose == .identity ? "the identity certificate" : "the certificate"
        try transaction.append(
            Event(
                days == 0 ? .certificateExpired : .certificateExpiringSoon, severity, at: now,
                merchant: keyPair.merchantIdentifier, key: keyPair.publicKeyHash, rollId: roll?.rollId,
                detail:
                    "\(noun) of the \(keyPair.state.rawValue) key \(days == 0 ? "expired" : "expires") at \(expiry)\(nextStep.map { "; next step of the roll: \($0)" } ?? "")"
            ))
        if [60, 7].contains(days) { try warnBelowTarget(keyPair, expiry: expiry, in: transaction) }
        return true
    }

    /// Raises an event if the merchant has fewer active key pairs than its target. Called with the expiry warnings 60
    /// and 7 days before the certificate of a current key pair expires, because ``TargetRules`` then raises the event's
    /// severity.
    private func warnBelowTarget(
        _ keyPair: KeyPair, expiry: Timestamp, in transaction: any MerchantReading & KeyPairReading & ChangeRecording
    ) throws {
        guard keyPair.state == .current, keyPair.purpose == .paymentProcessing,
            let merchant = try transaction.merchant(keyPair.merchantIdentifier)
        else { return }
        let active = try transaction.countActivePaymentProcessingKeyPairs(of: merchant.identifier)
        guard active < merchant.targetActiveKeyPairs else { return }
        try transaction.append(
            Event(
                .belowTarget,
                TargetRules.severity(hasLostAllKeyPairs: false, currentCertificateExpiry: expiry, at: clock.now),
                at: clock.now,
                merchant: merchant.identifier,
                detail:
                    "the merchant has \(active) of \(merchant.targetActiveKeyPairs.counted("active key pair")), and the certificate of the current one expires at \(expiry): generate a key pair and have its CSR signed"
            ))
    }

    /// Raises an event for each open roll whose reminder is due and that waits for a merchant, an admin or Apple.
    ///
    /// - Returns: the number of rolls whose reminder was due.
    private func remind(for request: Request, _ report: inout ScheduleReport) async throws -> Int {
        let now = clock.now
        let due = try await records.read { try $0.rollsToRemind(at: now, limit: Self.stepSize) }
        guard !due.isEmpty else { return 0 }
        report.reminders += try await records.write { transaction in
            var count = 0
            for roll in due {
                // Another daemon may have sent the reminder since `due` was read.
                guard var open = try transaction.roll(roll.number), open.isOpen,
                    let remindAt = open.remindAt, remindAt <= now
                else { continue }
                open.remindAt = now.adding(policy.remindEvery)
                try transaction.update(open)
                let progress = try transaction.view(open, policy, at: confirmedTime.reading().earliest).progress
                switch progress.waitingFor {
                case .time, .none: continue
                case .merchant, .admin, .apple: break
                }
                try transaction.append(
                    Event(
                        .rollWaiting, progress.waitingFor == .merchant ? .warning : .notice, at: now,
                        merchant: open.merchantIdentifier, key: open.to, rollId: open.rollId,
                        detail:
                            "roll \(open.rollId) has been waiting for \(progress.waitingFor.rawValue) since \(progress.since)\(progress.next.map { ": \($0)" } ?? "")"
                    ))
                count += 1
            }
            return count
        }
        return due.count
    }

    /// Finishes rolls that are quiet.
    ///
    /// - Returns: the number of finished rolls. Rolls that could not be finished do not count, so that ``inSteps(_:)``
    ///   does not repeat this step only for these rolls.
    private func finishQuietRolls(for request: Request, _ report: inout ScheduleReport) async throws -> Int {
        let due = try await records.read {
            try $0.rollsIdleSince(
                notAfter: confirmedTime.reading().earliest.adding(.zero - policy.quietPeriod), limit: Self.stepSize)
        }
        var finished = 0
        for roll in due {
            do {
                _ = try await rolls.finishRoll(
                    roll.number, evenIfNotQuiet: false, reason: nil, dryRun: false, for: request)
                finished += 1
            } catch let error as MerchantError
                where [.rollNotQuiet, .rollStateConflict, .lastActiveKey].contains(error.code)
            {
                // Since `due` was read, the old key was requested or a key changed its state. Or another daemon may
                // have uses that are not stored, or no other key can replace the old one. The roll stays open.
            }
        }
        report.rollsFinished += finished
        return finished
    }
}

package import MerchantCore
import Vocabulary

/// What one pass of the schedule did.
package struct ScheduleReport: Hashable, Sendable {
    package var rollsStarted = 0
    package var warnings = 0
    package var reminders = 0
    package var rollsFinished = 0
    package var pairsPrepared = 0
    /// Successors that could not be prepared; they are tried again a day later.
    package var failures = 0

    package init() {}

    package var isEmpty: Bool { self == ScheduleReport() }
}

extension MerchantOperations {
    /// How many key pairs or rolls one step of the schedule takes, each step in a transaction of its own.
    private static let stepSize = 64
    /// The most steps of a pass, so that a first start over many merchants does not hold up the rest.
    private static let mostSteps = 64
    private static let retryAfter = Duration.seconds(86_400)

    /// Looks at whatever is due: prepares successors, warns of ends, reminds of missing steps, finishes quiet rolls where
    /// the settings say so. What was done is remembered with it: after a crash nothing is done twice and nothing is left out.
    package func runSchedule(as caller: Caller) async throws -> ScheduleReport {
        let request = Request(caller: caller, requestId: "schedule")
        var report = ScheduleReport()
        try await inSteps { try await watchEnds(for: request, &report) }
        try await inSteps { try await remind(for: request, &report) }
        try await inSteps { try await correctFutureTimes(limit: Self.stepSize) }
        if rolls.finishesWhenQuiet { try await inSteps { try await finishQuietRolls(for: request, &report) } }
        try await inSteps {
            let count = try await prepareNextPairs(limit: Self.stepSize, for: request)
            report.pairsPrepared += count
            return count
        }
        return report
    }

    /// - Parameter step: returns how many it saw to; fewer than a step's size means that nothing is left.
    private func inSteps(_ step: () async throws -> Int) async throws {
        for _ in 0..<Self.mostSteps where try await step() < Self.stepSize { return }
    }

    private func watchEnds(for request: Request, _ report: inout ScheduleReport) async throws -> Int {
        let now = clock.now
        let due = try await repository.read { try $0.keyPairsToWatch(at: now, limit: Self.stepSize) }
        var failed: Set<PublicKeyHash> = []
        for ending in due where isToBeRenewed(ending, at: now) {
            do {
                let started = try await startRoll(
                    of: ending.keyPair.merchantIdentifier, algorithm: ending.keyPair.algorithm, for: request)
                if started.isNew { report.rollsStarted += 1 }
            } catch {
                // One merchant's trouble must not keep the others from being warned.
                failed.insert(ending.keyPair.publicKeyHash)
            }
        }
        report.failures += failed.count
        let retried = failed
        report.warnings += try await repository.write { transaction in
            var count = 0
            for ending in due {
                // Read again: it may have been promoted or revoked since.
                guard let keyPair = try transaction.keyPair(ending.keyPair.publicKeyHash), keyPair.state.isActive
                else { continue }
                let now = ExpiringKeyPair(keyPair: keyPair, notAfter: ending.notAfter)
                if try warn(of: now, in: transaction) { count += 1 }
                try transaction.setNextWatch(
                    of: keyPair.publicKeyHash,
                    at: nextWatch(of: now, isRetried: retried.contains(keyPair.publicKeyHash)))
            }
            return count
        }
        return due.count
    }

    private func isToBeRenewed(_ ending: ExpiringKeyPair, at now: Timestamp) -> Bool {
        ending.keyPair.state == .current && ending.keyPair.purpose == .paymentProcessing
            && rolls.renewal(of: ending.notAfter, merchant: ending.keyPair.merchantIdentifier) <= now
    }

    private func nextWatch(of ending: ExpiringKeyPair, isRetried: Bool) -> Timestamp? {
        let now = clock.now
        let renewal = rolls.renewal(of: ending.notAfter, merchant: ending.keyPair.merchantIdentifier)
        let retry = isRetried ? now.adding(Self.retryAfter) : nil
        return [retry, renewal > now ? renewal : nil, ExpiryWarning.next(ends: ending.notAfter, after: now)]
            .compactMap { $0 }.min()
    }

    /// - Returns: whether there was something to be told of.
    private func warn(of ending: ExpiringKeyPair, in transaction: any MerchantTransaction) throws -> Bool {
        let (now, keyPair, ends) = (clock.now, ending.keyPair, ending.notAfter)
        // Apple no longer encrypts to a retiring key.
        guard keyPair.state != .retiring, let days = ExpiryWarning.due(ends: ends, at: now),
            let severity = ExpirySeverity.severity(ends: ends, state: keyPair.state, at: now),
            try !transaction.wasWarned(of: ends, days: days, key: keyPair.publicKeyHash)
        else { return false }
        try transaction.noteWarning(of: ends, days: days, key: keyPair.publicKeyHash, at: now)
        let roll =
            keyPair.purpose == .paymentProcessing
            ? try transaction.openRoll(of: keyPair.merchantIdentifier, algorithm: keyPair.algorithm) : nil
        let missing = try roll.flatMap {
            try view($0, in: transaction, at: confirmedTime.reading().earliest).standing.next
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

    /// A merchant below its target is reported again when ``TargetRules`` raises the severity.
    private func warnBelowTarget(
        _ keyPair: KeyPair, ends: Timestamp, in transaction: any MerchantTransaction
    ) throws {
        guard keyPair.state == .current, keyPair.purpose == .paymentProcessing,
            let merchant = try transaction.merchant(keyPair.merchantIdentifier)
        else { return }
        let active = try transaction.view(merchant).activeKeyPairs
        guard active < merchant.targetActiveKeyPairs else { return }
        try transaction.append(
            Event(
                .belowTarget, TargetRules.severity(lostAll: false, currentEnds: ends, at: clock.now), at: clock.now,
                merchant: merchant.identifier,
                detail:
                    "the merchant has \(active) of \(merchant.targetActiveKeyPairs) active key pairs, and the current one's certificate ends at \(ends)"
            ))
    }

    private func remind(for request: Request, _ report: inout ScheduleReport) async throws -> Int {
        let now = clock.now
        let due = try await repository.read { try $0.rollsToRemind(at: now, limit: Self.stepSize) }
        guard !due.isEmpty else { return 0 }
        report.reminders += try await repository.write { transaction in
            var count = 0
            for roll in due {
                guard var open = try transaction.roll(roll.number), open.isOpen else { continue }
                open.remindAt = now.adding(rolls.remindEvery)
                try transaction.update(open)
                let standing = try view(open, in: transaction, at: confirmedTime.reading().earliest).standing
                switch standing.waitingFor {
                case .time, .nobody: continue
                case .merchant, .admin, .apple: break
                }
                try transaction.append(
                    Event(
                        .rollWaiting, standing.waitingFor == .merchant ? .warning : .notice, at: now,
                        merchant: open.merchantIdentifier, key: open.to, rollId: open.rollId,
                        detail:
                            "roll \(open.rollId) waits for \(standing.waitingFor.rawValue) since \(standing.since)\(standing.next.map { ": \($0)" } ?? "")"
                    ))
                count += 1
            }
            return count
        }
        return due.count
    }

    private func finishQuietRolls(for request: Request, _ report: inout ScheduleReport) async throws -> Int {
        let due = try await repository.read {
            try $0.rollsIdle(
                since: confirmedTime.reading().earliest.adding(.zero - rolls.quietPeriod), limit: Self.stepSize)
        }
        var finished = 0
        for roll in due {
            do {
                _ = try await finishRoll(roll.number, hurries: false, reason: nil, dryRun: false, for: request)
                finished += 1
            } catch let error as MerchantError
                where [.rollNotQuiet, .rollStateConflict, .lastActiveKey].contains(error.code)
            {
                // Somebody asked for the old key, or moved it, meanwhile.
            }
        }
        report.rollsFinished += finished
        // What could not be finished stays in the list, so that only progress is followed by another step.
        return finished
    }
}

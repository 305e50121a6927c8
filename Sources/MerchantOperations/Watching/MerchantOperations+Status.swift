package import MerchantCore
package import Vocabulary

/// Something an operator should know or act on.
package struct StatusFinding: Hashable, Sendable {
    package enum Severity: String, Sendable, CaseIterable, Comparable {
        case notice, warning, critical

        package static func < (left: Self, right: Self) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    package enum Code: String, Sendable, CaseIterable {
        case belowTarget, certificateEnding, certificateEnded
        /// Payment tokens cannot be claimed; most genuine ones disagree with the machine's clock.
        case claimsRefused, clockWrong
        /// The machine's clock differs from the daemon's own count of time.
        case clockUnconfirmed
        /// The database cannot be written, or is damaged.
        case storeFailing, storeDamaged, diskNearlyFull
        /// The master key or the lock file is not in its place.
        case masterKeyMissing, lockFileMissing
        /// A private key's seal or a certificate is not what was stored; the audit chain does not hold.
        case keyDamaged, auditBroken
        /// No good backup is as young as it should be, or the last attempt failed.
        case backupOverdue, backupFailed
        /// The master key or the data key is being rotated, cannot be, or is to be.
        case masterKeyRotation
        /// The audit's head could not be taken to where it is kept.
        case auditHeadNotShipped
        /// The database is older than it once was: by a restore, or by an accepted older copy.
        case databaseRestored
        /// Apple's record differs from ours, a call's outcome is unknown, or Apple cannot be asked.
        case registrationDrift, registrationUnsettled, gatewayUnavailable
        /// A webhook does not take what it asked for.
        case eventsParked, eventsUndelivered
    }

    package let severity: Severity
    package let code: Code
    package let detail: String
    package let merchantIdentifier: MerchantIdentifier?
    package let publicKeyHash: PublicKeyHash?

    package init(
        severity: Severity, code: Code, detail: String, merchantIdentifier: MerchantIdentifier? = nil,
        publicKeyHash: PublicKeyHash? = nil
    ) {
        self.severity = severity
        self.code = code
        self.detail = detail
        self.merchantIdentifier = merchantIdentifier
        self.publicKeyHash = publicKeyHash
    }
}

/// The state of everything, in numbers and findings.
package struct Status: Sendable {
    package let at: Timestamp
    package let environment: Environment
    package let counts: StoreCounts
    package let backups: BackupCoverage
    /// Worst first.
    package let findings: [StatusFinding]
    package let rolls: [RollState: Int]
    package let longestWaitingRolls: [RollView]
    /// How many active key pairs' certificates end in each of the next weeks.
    package let endingByWeek: [(begins: Timestamp, ending: Int)]
    package let awaitingDestruction: Int
    /// Soonest first.
    package let destructions: [KeyPair]
    /// How events get to those who asked for them.
    package let webhooks: [WebhookState]
}

extension MerchantOperations {
    /// How long before a certificate's end a merchant below target is a warning, and when it is critical.
    package static let renewalWindow = Duration.seconds(60 * 86_400)
    private static let week = Duration.seconds(7 * 86_400)
    package static let lastDays = Duration.seconds(7 * 86_400)
    package static let mostFindings = 100
    /// An event that is on its way for longer is a warning.
    package static let lateDelivery = Duration.seconds(3_600)
    private static let weeksAhead = 13
    private static let mostListed = 10

    package func status() async throws -> Status {
        let time = confirmedTime.reading()
        let (now, earliest) = (time.wall, time.earliest)
        let (environment, gatewayHealth) = (environment, gateway.health)
        let ofDaemon = healthFindings()
        return try await repository.read { reading in
            var findings = ofDaemon
            findings += try reading.keyPairsEnding(before: now.adding(Self.renewalWindow), limit: Self.mostFindings)
                .map { Self.finding(for: $0, at: now) }
            // The grave ones first: a page by name would be full of notices.
            var below = try reading.merchantsBelowTarget(
                endingBefore: now.adding(Self.renewalWindow), limit: Self.mostFindings)
            let grave = Set(below.map(\.merchantIdentifier))
            below += try reading.merchantsBelowTarget(after: nil, limit: Self.mostFindings)
                .filter { !grave.contains($0.merchantIdentifier) }
            findings += below.map { Self.finding(for: $0, at: now) }
            let counts = try reading.counts(at: now)
            let oldest = try reading.openCalls(after: nil, limit: Self.mostFindings).map(\.openedAt).min()
            findings += Self.findings(for: counts, oldestOpenCall: oldest, health: gatewayHealth, at: now)
            let webhooks = try reading.webhooks()
            findings += webhooks.flatMap { Self.findings(for: $0, at: now) }
            findings.sort { $0.severity > $1.severity }
            return Status(
                at: now, environment: environment, counts: counts, backups: try reading.backupCoverage(),
                findings: Array(findings.prefix(Self.mostFindings)),
                rolls: try reading.rollCounts(quietIfIdleSince: earliest.adding(.zero - rolls.quietPeriod)),
                longestWaitingRolls: try reading.rollsWaitingLongest(limit: Self.mostListed)
                    .map { try view($0, in: reading, at: earliest) },
                endingByWeek: try (0..<Self.weeksAhead).map { week in
                    let begins = now.adding(Self.week * week)
                    return (begins, try reading.countEnding(from: begins, to: begins.adding(Self.week)))
                }, awaitingDestruction: try reading.countAwaitingDestruction(),
                destructions: try reading.keyPairsAwaitingDestruction(limit: Self.mostListed),
                webhooks: webhooks)
        }
    }

    private static func finding(for ending: EndingKeyPair, at now: Timestamp) -> StatusFinding {
        let hasEnded = ending.notAfter < now
        return StatusFinding(
            severity: hasEnded || ending.notAfter > now.adding(lastDays) ? .warning : .critical,
            code: hasEnded ? .certificateEnded : .certificateEnding,
            detail: hasEnded
                ? "the certificate of a \(ending.keyPair.state.rawValue) key ended at \(ending.notAfter); the key still answers"
                : "the certificate of a \(ending.keyPair.state.rawValue) key ends at \(ending.notAfter)",
            merchantIdentifier: ending.keyPair.merchantIdentifier, publicKeyHash: ending.keyPair.publicKeyHash)
    }

    private static func finding(for merchant: MerchantBelowTarget, at now: Timestamp) -> StatusFinding {
        let severity: StatusFinding.Severity =
            switch merchant.currentEnds {
            case .some(let ends) where ends <= now.adding(lastDays): .critical
            case .some(let ends) where ends <= now.adding(renewalWindow): .warning
            default: .notice
            }
        return StatusFinding(
            severity: severity, code: .belowTarget,
            detail: "\(merchant.activeKeyPairs) of \(merchant.targetActiveKeyPairs) active key pairs",
            merchantIdentifier: merchant.merchantIdentifier, publicKeyHash: nil)
    }

    private static func findings(for webhook: WebhookState, at now: Timestamp) -> [StatusFinding] {
        func warning(_ code: StatusFinding.Code, _ detail: String) -> StatusFinding {
            let cause = webhook.lastFailure.map { ": \($0)" } ?? ""
            return StatusFinding(
                severity: .warning, code: code, detail: "webhook '\(webhook.name)': \(detail)\(cause)",
                merchantIdentifier: nil, publicKeyHash: nil)
        }
        var findings: [StatusFinding] = []
        if webhook.parked > 0 {
            findings.append(
                warning(
                    .eventsParked, "\(webhook.parked) events given up after a day; 'event redeliver' sends them again"))
        }
        if let oldest = webhook.oldestUndelivered, oldest.adding(lateDelivery) <= now {
            findings.append(
                warning(.eventsUndelivered, "\(webhook.undelivered) events undelivered, the oldest since \(oldest)"))
        }
        return findings
    }
}

package import MerchantCore
package import Vocabulary

/// The state of everything, in numbers and findings.
package struct Status: Sendable {
    package let at: Timestamp
    package let environment: Environment
    package let counts: StoreCounts
    package let backups: BackupCoverage
    /// Most urgent first, at most one of each code.
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
    private static let week = Duration.seconds(7 * 86_400)
    /// An event that is on its way for longer is a warning.
    package static let lateDelivery = Duration.seconds(3_600)
    private static let weeksAhead = 13
    private static let mostListed = 10
    private static let mostOpenCalls = 100

    package func status() async throws -> Status {
        let time = confirmedTime.reading()
        let (now, earliest) = (time.wall, time.earliest)
        let (environment, gatewayHealth) = (environment, gateway.health)
        let ofDaemon = healthFindings()
        return try await repository.read { reading in
            let counts = try reading.counts(at: now)
            let webhooks = try reading.webhooks()
            let oldest = try reading.openCalls(after: nil, limit: Self.mostOpenCalls).map(\.openedAt).min()
            var findings = ofDaemon
            findings += try Self.certificateFindings(in: reading, at: now)
            findings += try Self.targetFindings(below: counts.merchantsBelowTarget, in: reading, at: now)
            findings += Self.findings(for: counts, oldestOpenCall: oldest, health: gatewayHealth, at: now)
            findings += webhooks.flatMap { Self.findings(for: $0, at: now) }
            return Status(
                at: now, environment: environment, counts: counts, backups: try reading.backupCoverage(),
                findings: findings.aggregated(),
                rolls: try reading.rollCounts(quietIfIdleSince: earliest.adding(.zero - rolls.quietPeriod)),
                longestWaitingRolls: try reading.rollsWaitingLongest(limit: Self.mostListed)
                    .map { try view($0, in: reading, at: earliest) },
                endingByWeek: try (0..<Self.weeksAhead).map { week in
                    let begins = now.adding(Self.week * week)
                    return (begins, try reading.countEnding(.active, from: begins, to: begins.adding(Self.week)))
                }, awaitingDestruction: try reading.countAwaitingDestruction(),
                destructions: try reading.keyPairsAwaitingDestruction(limit: Self.mostListed),
                webhooks: webhooks)
        }
    }

    private static func findings(for webhook: WebhookState, at now: Timestamp) -> [StatusFinding] {
        func warning(_ code: StatusFinding.Code, _ detail: String) -> StatusFinding {
            let cause = webhook.lastFailure.map { ": \($0)" } ?? ""
            return StatusFinding(
                severity: .warning, code: code, detail: "webhook '\(webhook.name)': \(detail)\(cause)")
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

package import MerchantCore
package import Vocabulary

/// What `status` reports: numbers, findings and short lists.
package struct Status: Sendable {
    package let at: Timestamp
    package let environment: Environment
    package let counts: StoreCounts
    package let backups: BackupCoverage
    /// The findings, most urgent first, at most one of each code.
    package let findings: [StatusFinding]
    /// The number of rolls in each state.
    package let rolls: [RollState: Int]
    package let longestWaitingRolls: [RollView]
    /// For each of the next 13 weeks, when the week begins, and how many active key pairs have a certificate that
    /// expires in that week.
    package let expiringByWeek: [(begins: Timestamp, expiring: Int)]
    /// The number of private keys whose destruction is scheduled.
    package let awaitingDestruction: Int
    /// The first key pairs whose destruction is scheduled, earliest destruction first.
    package let destructions: [KeyPair]
    /// The webhooks and their deliveries.
    package let webhooks: [WebhookState]
}

/// Reports the state of merchants, keys, rolls, registrations, backups and the daemon itself.
package struct Monitoring: Sendable {
    package typealias Records = Transactions<
        any StatusReading & ExpiryScheduleReading & KeyPairReading & SealedKeyReading & KeyUseReading & RollReading
            & RegistrationReading & EventReading & DaemonStateReading & MerchantReading & TokenNotificationReading,
        Void
    >

    /// Functions that return the health of the daemon's dependencies. They are called again for every report.
    package struct Sources: Sendable {
        /// Findings about the daemon itself and its machine.
        let conditions: @Sendable () -> [StatusFinding]
        /// Whether the records that payment tokens were used (claims) can be stored.
        let claims: @Sendable () -> StoreHealth
        /// Why and until when new claims are refused although they can be stored; nil if they are accepted.
        let clockBehindClaims: @Sendable () -> ClockBehindClaims?
        /// Whether calls to Apple are possible. Reads the store, so it must not be called inside a transaction.
        let gateway: @Sendable () -> GatewayHealth
        /// Whether calls to Apple are paused after failures. This part of ``gateway`` does not read the store.
        let circuit: @Sendable () -> GatewayHealth

        package init(
            conditions: @escaping @Sendable () -> [StatusFinding], claims: @escaping @Sendable () -> StoreHealth,
            clockBehindClaims: @escaping @Sendable () -> ClockBehindClaims?,
            gateway: @escaping @Sendable () -> GatewayHealth, circuit: @escaping @Sendable () -> GatewayHealth
        ) {
            self.conditions = conditions
            self.claims = claims
            self.clockBehindClaims = clockBehindClaims
            self.gateway = gateway
            self.circuit = circuit
        }
    }

    private let records: Records
    let sources: Sources
    let integrity: IntegrityFindings
    let tokenTimes: TokenTimeWatch
    private let merchantTokens: MerchantTokenMetrics
    private let merchantTokenPolicy: MerchantTokenPolicy
    private let environment: Environment
    private let currentPolicy: CurrentValue<RollPolicy>
    private var policy: RollPolicy { currentPolicy.value }
    private let backupPolicy: CurrentValue<BackupPolicy>
    let clock: any WallClock
    private let confirmedTime: ConfirmedTime

    package init(
        records: Records, sources: Sources, integrity: IntegrityFindings, tokenTimes: TokenTimeWatch,
        merchantTokens: MerchantTokenMetrics, merchantTokenPolicy: MerchantTokenPolicy, environment: Environment,
        policy: CurrentValue<RollPolicy>, backupPolicy: CurrentValue<BackupPolicy>, clock: any WallClock,
        confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.sources = sources
        self.integrity = integrity
        self.tokenTimes = tokenTimes
        self.merchantTokens = merchantTokens
        self.merchantTokenPolicy = merchantTokenPolicy
        self.environment = environment
        currentPolicy = policy
        self.backupPolicy = backupPolicy
        self.clock = clock
        self.confirmedTime = confirmedTime
    }

    private static let week = Duration.seconds(7 * 86_400)
    /// `status` warns of events that have not been delivered for longer than this.
    package static let lateDelivery = Duration.seconds(3_600)
    private static let weeksAhead = 13
    /// `status` lists at most this many waiting rolls and this many scheduled destructions.
    private static let maximumListed = 10
    /// `status` reads at most this many open calls (calls to Apple with an unknown outcome) to find the oldest one.
    private static let maximumOpenCalls = 100

    package func status() async throws -> Status {
        // The health of the gateway and the daemon is read first, because it must not be read inside a transaction.
        let time = confirmedTime.reading()
        // `earliest` is the earlier of the machine's clock and the confirmed time, so that a machine clock that is
        // ahead ends no quiet period of a roll.
        let (now, earliest) = (time.wall, time.earliest)
        let (environment, gatewayHealth) = (environment, sources.gateway())
        let daemonFindings = healthFindings()
        let notificationProblems = merchantTokens.recentProblems(at: now)
        return try await records.read { [merchantTokenPolicy] reading in
            let counts = try reading.counts(at: now)
            let webhooks = try reading.webhooks()
            let oldestOpenCall = try reading.openCalls(after: nil, limit: Self.maximumOpenCalls).map(\.openedAt).min()
            var findings = daemonFindings
            findings += try Self.certificateFindings(in: reading, at: now)
            findings += try Self.targetFindings(merchantsBelowTarget: counts.merchantsBelowTarget, in: reading, at: now)
            findings += Self.findings(for: counts, oldestOpenCall: oldestOpenCall, health: gatewayHealth, at: now)
            findings += try Self.findings(
                for: try reading.waitingTokenNotifications(), notificationProblems, merchantTokenPolicy, in: reading,
                at: now)
            findings += webhooks.flatMap { Self.findings(for: $0, at: now) }
            // The later of the two times, so that no backup seems to be from the future because the clock is behind.
            let backups = try reading.backupCoverage(at: time.latest)
            findings += [backups.finding(by: backupPolicy.value, at: now)].compactMap(\.self)
            if environment == .production { findings += try Self.issuerFindings(in: reading) }
            findings += try Self.standbyUseFindings(in: reading)
            return Status(
                at: now, environment: environment, counts: counts, backups: backups,
                findings: findings.aggregated(),
                rolls: try reading.rollCounts(quietCutoff: earliest.adding(.zero - policy.quietPeriod)),
                longestWaitingRolls: try reading.views(
                    try reading.rollsWaitingLongest(limit: Self.maximumListed), policy, at: earliest),
                expiringByWeek: try (0..<Self.weeksAhead).map { week in
                    let begins = now.adding(Self.week * week)
                    return (
                        begins, try reading.countKeyPairsExpiring(.active, from: begins, to: begins.adding(Self.week))
                    )
                }, awaitingDestruction: try reading.countScheduledForDestruction(),
                destructions: try reading.keyPairsScheduledForDestruction(limit: Self.maximumListed),
                webhooks: webhooks)
        }
    }

    /// When the first active key pair expires; nil if no key pair is active. A key pair expires with its
    /// latest-expiring certificate.
    package func soonestExpiry() async throws -> Timestamp? {
        // The end of the year 9999: every certificate expires earlier.
        let end = Timestamp(millisecondsSince1970: 253_402_300_799_000)
        return try await records.read { try $0.keyPairsExpiring(by: end, limit: 1) }.first?.notAfter
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
                    .eventsParked,
                    "\(webhook.parked.counted("event is", "events are")) parked, because delivery failed for a day; 'event redeliver' sends parked events again"
                ))
        }
        if let oldest = webhook.oldestUndelivered, oldest.adding(lateDelivery) <= now {
            findings.append(
                warning(
                    .eventsUndelivered,
                    "\(webhook.undelivered.counted("event is", "events are")) not delivered yet; the oldest event occurred at \(oldest)"
                ))
        }
        return findings
    }
}

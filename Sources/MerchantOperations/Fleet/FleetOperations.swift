package import MerchantCore
package import Vocabulary

/// Reads what the operators' pages show about all merchants. Changes nothing. Each method reads a limited number of
/// rows.
package struct FleetOperations: Sendable {
    package typealias Reader = MerchantReading & KeyPairReading & KeyUseReading & RollReading & RegistrationReading
        & StatusReading & SearchReading & EventReading & AuditReading & InvitationReading & DaemonStateReading
    package typealias Records = Transactions<any Reader, Void>

    /// The number of weeks that ``overview()`` looks ahead.
    package static let weeksAhead = 26
    static let week = Duration.seconds(7 * 86_400)

    let records: Records
    private let monitoring: Monitoring
    private let currentPolicy: CurrentValue<RollPolicy>
    var policy: RollPolicy { currentPolicy.value }
    let confirmedTime: ConfirmedTime

    package init(
        records: Records, monitoring: Monitoring, policy: CurrentValue<RollPolicy>, confirmedTime: ConfirmedTime
    ) {
        self.records = records
        self.monitoring = monitoring
        currentPolicy = policy
        self.confirmedTime = confirmedTime
    }

    /// The state of the fleet at a glance.
    package func overview() async throws -> FleetOverview {
        let status = try await monitoring.status()
        let time = confirmedTime.reading()
        return try await records.read { reading in
            FleetOverview(
                status: status, expired: try Self.expired(at: status.at, in: reading),
                weeks: try Self.weeks(from: status.at, in: reading),
                rolls: try rollCounts(in: reading, at: time.earliest))
        }
    }

    /// Merchants with fewer active payment processing key pairs than their target, sorted by identifier, starting after
    /// `cursor`, at most `limit`.
    package func merchantsBelowTarget(
        after cursor: MerchantIdentifier?, limit: Int
    ) async throws -> FleetList<FleetMerchantBelowTarget> {
        let now = confirmedTime.reading().wall
        return try await records.read { reading in
            let found = try reading.merchantsBelowTarget(afterMerchant: cursor, limit: limit + 1)
            return FleetList(
                found.map { FleetMerchantBelowTarget(merchant: $0, severity: $0.severity(at: now)) }, limit: limit)
        }
    }

    /// How many active key pairs have a certificate that has expired.
    private static func expired(at now: Timestamp, in reading: any StatusReading) throws -> FleetExpiries {
        try expiries(from: Timestamp(millisecondsSince1970: .min), to: now, in: reading)
    }

    private static func weeks(from now: Timestamp, in reading: any StatusReading) throws -> [FleetOverview.Week] {
        try (0..<weeksAhead).map { number -> FleetOverview.Week in
            let begins = now.adding(week * number)
            let ends = begins.adding(week)
            return FleetOverview.Week(
                begins: begins, ends: ends, expiring: try expiries(from: begins, to: ends, in: reading))
        }
    }

    private static func expiries(
        from begin: Timestamp, to end: Timestamp, in reading: any StatusReading
    ) throws -> FleetExpiries {
        FleetExpiries(
            current: try reading.countKeyPairsExpiring(.current, from: begin, to: end),
            notCurrent: try reading.countKeyPairsExpiring(.notCurrent, from: begin, to: end))
    }
}

package import MerchantCore
package import Vocabulary

/// A condition that an operator should know about. `status` shows at most one finding of each code.
package struct StatusFinding: Hashable, Sendable {
    package typealias Severity = MerchantCore.Severity

    package enum Code: String, Sendable, CaseIterable {
        /// `belowTarget`: merchants have fewer active key pairs than their target. `certificateExpiring` and
        /// `certificateExpired`: certificates of active key pairs expire within 60 days, or have expired.
        case belowTarget, certificateExpiring, certificateExpired
        /// `claimsRefused`: payment tokens cannot be claimed, so the daemon opens no token as a payment. `clockWrong`:
        /// the signing times of most genuine tokens differ too much from the machine's clock.
        case claimsRefused, clockWrong
        /// The machine's clock differs from the daemon's confirmed time.
        case clockUnconfirmed
        /// `storeFailing`: the database cannot be written. `storeDamaged`: the database is damaged, or could not be
        /// checked. `diskNearlyFull`: a disk has little free space.
        case storeFailing, storeDamaged, diskNearlyFull
        /// The master key or the lock file is missing.
        case masterKeyMissing, lockFileMissing
        /// `keyDamaged`: a stored private key, certificate or other part of the database is damaged. `auditBroken`: the
        /// audit chain is broken.
        case keyDamaged, auditBroken
        /// `backupOverdue`: the newest verified backup is too old. `backupFailed`: the last attempt to create a backup
        /// failed.
        case backupOverdue, backupFailed
        /// A rotation of the master key or the data key is pending, in progress or blocked.
        case masterKeyRotation
        /// The audit head, which is the number and hash of the last audit record, could not be stored outside the
        /// daemon.
        case auditHeadNotShipped
        /// An older database was restored or accepted.
        case databaseRestored
        /// `registrationDrift`: Apple's record of a registration is not as desired. `registrationUnresolved`: the
        /// outcome of a call to Apple is unknown. `gatewayUnavailable`: calls to Apple are not possible.
        case registrationDrift, registrationUnresolved, gatewayUnavailable
        /// A webhook does not accept its events. `eventsParked`: delivery of some events has failed for a day, and the
        /// daemon tries again only if an admin says so. `eventsUndelivered`: some events have been waiting for more
        /// than an hour.
        case eventsParked, eventsUndelivered
    }

    /// One of the merchants, key pairs or other subjects of a finding.
    package struct Item: Hashable, Sendable {
        package let severity: Severity
        package let detail: String
        package var merchantIdentifier: MerchantIdentifier?
        package var publicKeyHash: PublicKeyHash?
    }

    /// The largest number of subjects that a finding names.
    package static let maximumNamed = 5

    package let code: Code
    package let detail: String
    /// The number of subjects of each severity.
    package let counts: [Severity: Int]
    /// The most urgent subjects, most urgent first; empty if `detail` is enough.
    package let mostUrgent: [Item]

    /// A finding about one subject, such as the daemon itself.
    package init(severity: Severity, code: Code, detail: String) {
        self.init(code: code, detail: detail, counts: [severity: 1], mostUrgent: [])
    }

    package init(code: Code, detail: String, counts: [Severity: Int], mostUrgent: [Item]) {
        self.code = code
        self.detail = detail
        self.counts = counts
        self.mostUrgent = mostUrgent
    }

    /// The severity of the most urgent subject.
    package var severity: Severity { counts.filter { $0.value > 0 }.keys.max() ?? .notice }
    package var count: Int { counts.values.reduce(0, +) }
}

extension [StatusFinding] {
    /// Merges the findings of each code into one. The most urgent come first; equally urgent ones are in the order of
    /// ``StatusFinding/Code``.
    package func aggregated() -> [StatusFinding] {
        let byCode = Dictionary(grouping: self, by: \.code)
        return StatusFinding.Code.allCases.compactMap { byCode[$0]?.merged() }.enumerated()
            .sorted { ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset) }.map(\.element)
    }

    /// Merges findings of the same code.
    ///
    /// - Returns: nil for an empty list.
    private func merged() -> StatusFinding? {
        guard let first, count > 1 else { return self.first }
        let items = flatMap { finding -> [StatusFinding.Item] in
            finding.mostUrgent.isEmpty
                ? [StatusFinding.Item(severity: finding.severity, detail: finding.detail)] : finding.mostUrgent
        }
        let byUrgency = items.enumerated()
            .sorted { ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset) }.map(\.element)
        let counts: [StatusFinding.Severity: Int] = reduce(into: [:]) { $0.merge($1.counts, uniquingKeysWith: +) }
        return StatusFinding(
            code: first.code,
            detail:
                "\(counts.values.reduce(0, +)) problems, the most urgent: \(byUrgency.first?.detail ?? first.detail)",
            counts: counts, mostUrgent: [StatusFinding.Item](byUrgency.prefix(StatusFinding.maximumNamed)))
    }
}

package import MerchantCore
package import Vocabulary

/// Something that an operator should know or act on; `status` has at most one finding of each code.
package struct StatusFinding: Hashable, Sendable {
    package typealias Severity = MerchantCore.Severity

    package enum Code: String, Sendable, CaseIterable {
        case belowTarget, certificateExpiring, certificateExpired
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
        case registrationDrift, registrationUnresolved, gatewayUnavailable
        /// A webhook does not take what it asked for.
        case eventsParked, eventsUndelivered
    }

    /// One of the merchants, key pairs or other subjects of a finding.
    package struct Item: Hashable, Sendable {
        package let severity: Severity
        package let detail: String
        package var merchantIdentifier: MerchantIdentifier?
        package var publicKeyHash: PublicKeyHash?
    }

    /// How many items of a finding are named.
    package static let mostNamed = 5

    package let code: Code
    package let detail: String
    /// How many subjects the finding has, by severity.
    package let counts: [Severity: Int]
    /// The first ones, most urgent first; empty where `detail` says all.
    package let mostUrgent: [Item]

    /// A finding with one subject, such as the daemon itself.
    package init(severity: Severity, code: Code, detail: String) {
        self.init(code: code, detail: detail, counts: [severity: 1], mostUrgent: [])
    }

    package init(code: Code, detail: String, counts: [Severity: Int], mostUrgent: [Item]) {
        self.code = code
        self.detail = detail
        self.counts = counts
        self.mostUrgent = mostUrgent
    }

    /// Of the most urgent subject.
    package var severity: Severity { counts.filter { $0.value > 0 }.keys.max() ?? .notice }
    package var count: Int { counts.values.reduce(0, +) }
}

extension [StatusFinding] {
    /// One finding for each code, most urgent first, in an order that does not change from one request to the next.
    package func aggregated() -> [StatusFinding] {
        let byCode = Dictionary(grouping: self, by: \.code)
        return StatusFinding.Code.allCases.compactMap { byCode[$0]?.merged() }.enumerated()
            .sorted { ($1.element.severity, $0.offset) < ($0.element.severity, $1.offset) }.map(\.element)
    }

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
            detail: "\(counts.values.reduce(0, +)) problems, the first: \(byUrgency.first?.detail ?? first.detail)",
            counts: counts, mostUrgent: [StatusFinding.Item](byUrgency.prefix(StatusFinding.mostNamed)))
    }
}

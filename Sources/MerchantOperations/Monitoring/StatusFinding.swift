package import MerchantCore
package import Vocabulary

/// A condition that an operator should know about. `status` shows at most one finding of each code.
package struct StatusFinding: Hashable, Sendable {
    package typealias Severity = MerchantCore.Severity

    package enum Code: String, Sendable, CaseIterable {
        /// Merchants have fewer active key pairs than their target.
        case belowTarget
        /// Certificates of active key pairs expire within 60 days.
        case certificateExpiring
        /// Certificates of active key pairs have expired.
        case certificateExpired
        /// The daemon refuses to decrypt tokens for payments, because it cannot record that a token was used, or
        /// because the machine's clock is behind the newest such record.
        case claimsRefused
        /// The daemon refuses genuine tokens of most merchants, because their signing times differ too much from the
        /// machine's clock.
        case clockWrong
        /// The machine's clock differs by more than an hour from the confirmed time: see ``ConfirmedTime``.
        case clockUnconfirmed
        /// The clocks of the machine and of the PostgreSQL server differ by more than a second.
        case serverClockDiffers
        /// The database cannot be written.
        case storeFailing
        /// The daemon cannot reach the PostgreSQL database, and uses the keys in its memory after the end of its lease.
        case staleKeysUsed
        /// SQLite's integrity check found damage in the database, or a part of the database could not be checked.
        case storeDamaged
        /// A disk has little free space.
        case diskNearlyFull
        case masterKeyMissing
        case lockFileMissing
        /// A stored private key cannot be unsealed, a stored certificate cannot be parsed, the verification of a backup
        /// found faults, or another program has changed rows or the schema of the database.
        case keyDamaged
        /// Audit records were changed, removed or reordered.
        case auditBroken
        /// The newest verified backup is too old or of unknown age, or there is none.
        case backupOverdue
        /// The last attempt to create a backup failed.
        case backupFailed
        /// A rotation of the master key or the data key is pending, in progress or blocked.
        case masterKeyRotation
        /// The audit head, which is the number and hash of the last audit record, could not be stored outside the
        /// daemon.
        case auditHeadNotShipped
        /// The daemon started with a database that lacks earlier changes, such as a restored backup.
        case databaseRestored
        /// Apple's record of a registration differs from what should be registered.
        case registrationDrift
        /// The outcome of a call to Apple has been unknown for more than ten minutes.
        case registrationUnresolved
        /// Calls to Apple are not possible.
        case gatewayUnavailable
        /// Notifications of merchant tokens have been waiting for more than an hour for their events to be fetched from
        /// Apple.
        case tokenNotificationsWaiting
        /// Notifications of merchant tokens were refused, because too many of them wait.
        case tokenNotificationsRefused
        /// Notifications of merchant tokens were ignored, because their merchant cannot be determined or was removed.
        case tokenNotificationsIgnored
        /// Apple does not know the events of many notifications of merchant tokens, or refuses them with status 403.
        case tokenEventsUnknown
        /// The delivery of events to a webhook has failed for a day. The daemon tries again only if an admin requests
        /// this.
        case eventsParked
        /// Events have been waiting for their delivery to a webhook for more than an hour.
        case eventsUndelivered
        /// The portal's TLS files have changed and cannot be used, so the portal keeps the former files; or the
        /// portal's certificate has expired.
        case portalCertificateUnusable
        /// Keys with a certificate are in no verified backup.
        case backupMissing
        /// Active key pairs of a production daemon have a certificate whose issuer the daemon has not verified.
        case issuerNotVerified
        /// Apple encrypts to standby key pairs outside of a roll: see ``StandbyKeyUse``.
        case standbyKeyUsed
        /// The setting `environment` differs from its value at an earlier start of the daemon.
        case environmentChanged
        /// The last reload of the settings failed, so the former settings stay in force.
        case reloadFailed
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

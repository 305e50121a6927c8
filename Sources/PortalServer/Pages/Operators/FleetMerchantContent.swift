import MerchantCore
import Vocabulary

/// The values of the template `fleet-merchant`.
struct FleetMerchantContent {
    struct Certificate {
        let serialNumber: String
        let shortHash: String
        let begins: TimeContent
        let ends: TimeContent
        let days: String
        let issuer: String
    }

    struct RollRow {
        let number: String
        let state: String
        let waitingFor: String
        let since: TimeContent
        let next: String?
    }

    struct Registration {
        struct Domain {
            let name: String
            let stateName: String
            let state: String
        }

        let name: String
        let partner: String
        let encryptTo: String?
        let learnedAt: TimeContent?
        let hasOpenCall: Bool
        let warnings: [String]
        let domains: [Domain]
        let more: String?
    }

    struct EventRow {
        let time: TimeContent
        let severityName: String
        let severity: String
        let kind: String
        let detail: String
    }

    struct AuditRow {
        let sequence: String
        let time: TimeContent
        let action: String
        let caller: String
        let change: String?
        let reason: String?
    }

    /// Apple allows 99 domains for a registration, but Apple's record may have more.
    private static let maximumDomains = 200

    let heading: String
    let merchant: String
    let active: String
    let added: TimeContent
    let invitePath: String
    let invitationsPath: String
    let timeline: KeyTimelineContent?
    let hasKeys: Bool
    let keys: [KeyContent]
    let hasCertificates: Bool
    let certificates: [Certificate]
    let hasRolls: Bool
    let rolls: [RollRow]
    let hasRegistrations: Bool
    let registrations: [Registration]
    let hasEvents: Bool
    let events: [EventRow]
    let hasAudit: Bool
    let audit: [AuditRow]

    init(_ merchant: Merchant, activeKeyPairs: Int, _ records: FleetMerchantPage.Records, _ text: PageText) {
        heading = merchant.name ?? merchant.identifier.rawValue
        self.merchant = merchant.identifier.rawValue
        active = text.filled(
            .merchantOfTarget,
            ["active": text.number(activeKeyPairs), "target": text.number(merchant.targetActiveKeyPairs)])
        added = text.time(merchant.createdAt)
        invitePath = PortalPaths.invitationForm(for: merchant.identifier)
        invitationsPath = PortalPaths.invitationList(of: merchant.identifier)
        timeline = KeyTimelineContent(records.keys.forPayments, text)
        keys = records.keys.map { KeyContent($0, text) }
        hasKeys = !keys.isEmpty
        certificates = records.certificates.map { Self.certificate($0.certificate, of: $0.key, text) }
        hasCertificates = !certificates.isEmpty
        rolls = records.rolls.map { roll in
            RollRow(
                number: String(roll.number), state: text.named(.rollState, roll.state.rawValue),
                waitingFor: text.named(.opsParty, roll.waitingFor.rawValue), since: text.time(roll.since),
                next: roll.next)
        }
        hasRolls = !rolls.isEmpty
        registrations = records.registrations.map { Self.registration($0, text) }
        hasRegistrations = !registrations.isEmpty
        events = records.events.map { Self.event($0.event, text) }
        hasEvents = !events.isEmpty
        audit = records.audit.map { Self.audit($0, text) }
        hasAudit = !audit.isEmpty
    }

    private static func certificate(
        _ certificate: StoredCertificate, of key: PageKey, _ text: PageText
    ) -> Certificate {
        Certificate(
            serialNumber: certificate.serialNumber, shortHash: key.shortHash, begins: text.day(certificate.notBefore),
            ends: text.day(certificate.notAfter), days: text.remaining(until: certificate.notAfter),
            issuer: text[certificate.issuerVerified ? .merchantVerified : .merchantNotVerified])
    }

    private static func registration(_ registration: PageRegistration, _ text: PageText) -> Registration {
        let domains = registration.domains.prefix(maximumDomains).map { domain in
            Registration.Domain(
                name: domain.name, stateName: domain.state.rawValue,
                state: text.named(.domainState, domain.state.rawValue))
        }
        let count = registration.domains.count
        return Registration(
            name: registration.name, partner: registration.partner.rawValue,
            encryptTo: registration.encryptTo?.rawValue, learnedAt: registration.learnedAt.map { text.time($0) },
            hasOpenCall: registration.hasOpenCall, warnings: registration.warnings, domains: domains,
            more: count > maximumDomains
                ? text.filled(
                    .domainsMore, ["shown": text.number(maximumDomains), "count": text.number(count)]) : nil)
    }

    private static func event(_ event: Event, _ text: PageText) -> EventRow {
        EventRow(
            time: text.time(event.occurredAt), severityName: event.severity.rawValue,
            severity: text.named(.severity, event.severity.rawValue), kind: event.kind.rawValue,
            detail: event.detail)
    }

    private static func audit(_ record: AuditRecord, _ text: PageText) -> AuditRow {
        let entry = record.entry
        let change: String? =
            switch (entry.before, entry.after) {
            case (nil, nil): nil
            case (let before?, nil): before
            case (nil, let after?): after
            case (let before?, let after?): "\(before) \u{2192} \(after)"
            }
        return AuditRow(
            sequence: text.number(record.sequence), time: text.time(entry.at), action: entry.action.rawValue,
            caller: entry.caller.name, change: change, reason: entry.reason)
    }
}

import MerchantCore
import MerchantOperations
import PortalServer
import Vocabulary

extension PageSamples {
    static let operators = PageContext.Visitor.operating("operator:1000")

    static var fleet: [PageSample] {
        // Two findings with the same code are merged into one.
        let findings = [
            StatusFinding(severity: .warning, code: .backupOverdue, detail: "the newest backup is 31 hours old"),
            StatusFinding(severity: .critical, code: .certificateExpiring, detail: "3 days left"),
            StatusFinding(severity: .notice, code: .certificateExpiring, detail: "50 days left"),
        ].aggregated()
        let below = [
            MerchantBelowTarget(
                merchantIdentifier: Sample.merchantIdentifier, activeKeyPairs: 1, targetActiveKeyPairs: 2,
                currentCertificateExpiry: Sample.time(day: 20), hadActiveKeyPair: true),
            MerchantBelowTarget(
                merchantIdentifier: Sample.longIdentifier, activeKeyPairs: 0, targetActiveKeyPairs: 2,
                currentCertificateExpiry: nil, hadActiveKeyPair: false),
        ]
        let weeks = (0..<13).map { PageWeek(begin: Sample.time(day: $0 * 7), count: $0 * $0 * 1000) }
        let page = FleetPage(
            counts: .init(merchants: 12_408, activeKeyPairs: 24_700, merchantsBelowTarget: 17, expiredCertificates: 1),
            findings: findings, weeks: weeks, rollsByState: [.started: 210, .quiet: 8, .finished: 900],
            rollsByParty: [.merchant: 210, .time: 8], belowTarget: below)
        return [PageSample(name: "fleet", page: page, visitor: operators)]
    }

    static var search: [PageSample] {
        let results: [SearchPage.Result] = [
            .init(merchant: Sample.merchantIdentifier, name: "Shop", match: .identifier),
            .init(merchant: Sample.merchantIdentifier, name: nil, match: .name),
            .init(merchant: Sample.merchantIdentifier, name: nil, match: .domain("shop.example.com")),
            .init(merchant: Sample.merchantIdentifier, name: nil, match: .key(Sample.hash(1))),
        ]
        let pages: [(String, SearchPage)] = [
            ("search", SearchPage(query: "", results: nil, hasMore: false)),
            ("search too short", SearchPage(query: "ab", results: nil, hasMore: false)),
            ("search without result", SearchPage(query: "shop", results: [], hasMore: false)),
            ("search with results", SearchPage(query: "shop", results: results, hasMore: true)),
        ]
        return pages.map { PageSample(name: $0.0, page: $0.1, visitor: operators) }
    }

    static var fleetMerchant: [PageSample] {
        var records = FleetMerchantPage.Records()
        records.keys = [Sample.key(1, .current, days: (-700, 40)), Sample.key(2, .pending, days: nil)]
        records.certificates = records.keys.compactMap { key in
            key.certificate.map { (key: key, certificate: $0) }
        }
        records.rolls = RollState.allCases.enumerated().map { index, state in
            PageRoll(
                number: index + 1, state: state, waitingFor: .admin, since: Sample.time(day: -3),
                next: state == .finished ? nil : "promote the key")
        }
        records.registrations = [
            Sample.registration(
                name: "Shop", domains: [PageDomain(name: "shop.example.com", state: .registered)],
                warnings: ["no key pair can decrypt its tokens"])
        ]
        records.events = [Sample.event(1, detail: "the certificate was stored")]
        records.audit = [Sample.auditRecord(1, reason: "serial 1"), Sample.auditRecord(2, reason: nil)]
        let page = FleetMerchantPage(Sample.merchant(), activeKeyPairs: 1, records)
        return [PageSample(name: "merchant", page: page, visitor: operators)]
    }

    static var invitations: [PageSample] {
        let list = [
            Sample.openInvitation,
            Sample.invitation(Sample.merchantIdentifier, note: nil, usedAt: Sample.time(day: -1)),
            Sample.invitation(Sample.merchantIdentifier, note: nil, revokedAt: Sample.time(day: -1)),
            Sample.invitation(Sample.merchantIdentifier, note: nil, expiresAt: Sample.time(day: -1)),
        ]
        var pages: [(String, any HTMLPage)] = [
            ("invitations", InvitationsPage(list, of: nil, hasMore: true)),
            (
                "invitations of one merchant",
                InvitationsPage(list, of: Sample.merchantIdentifier, hasMore: true, wasRevoked: true)
            ),
            ("new invitation", NewInvitationPage()),
            (
                "invitation created",
                InvitationCreatedPage(Sample.openInvitation, url: "https://pay.example.com/invitations/mki_x")
            ),
            ("invitation shown", InvitationCreatedPage(Sample.openInvitation, url: nil)),
            ("revoke invitation", InvitationRevocationPage(Sample.openInvitation)),
        ]
        for problem in NewInvitationPage.Problem.allCases {
            let input = NewInvitationPage.Input(merchant: "shop", days: 2, note: "x")
            pages.append(("new invitation \(problem)", NewInvitationPage(input, problem: problem)))
        }
        return pages.map { PageSample(name: $0.0, page: $0.1, visitor: operators) }
    }

    /// All pages with ordinary values.
    static var all: [PageSample] {
        entry + home + merchantPages + domains + fleet + search + fleetMerchant + invitations
    }
}

import MerchantCore
import MerchantOperations
import PortalServer
import Vocabulary

extension PageSamples {
    /// A text that would be a script, an attribute and a tag of a template if it were not escaped.
    /// The last part has characters that combine with `<`, `>` and `"`. A browser reads them as tags all the same.
    static let hostile =
        "<script>alert(1)</script>\" onload=\"x' & {{page.heading}} {{{page.heading}}} {count} "
        + "\u{0D4E}<h4x\u{0D4E}> <\u{0301}h4x >\u{0301} \u{0D4E}\"h4x=\"\u{0301}"
    static let longName = String(repeating: "W", count: 1024)

    private static let hostileMerchant = PageContext.Visitor.merchant(Sample.longIdentifier, name: hostile)

    /// Pages without any data.
    static var empty: [PageSample] {
        let records = FleetMerchantPage.Records()
        let registrations: [PageRegistration] = []
        let pages: [(String, any HTMLPage)] = [
            ("home", MerchantHomePage(merchant: Sample.merchant(name: nil), steps: [], focus: nil, keys: [])),
            ("keys", MerchantKeysPage(merchant: Sample.merchant(name: nil), keys: [], hasOpenRoll: false)),
            ("domains", DomainsPage(merchant: Sample.merchant(), hasFile: false, registrations: registrations)),
            (
                "fleet",
                FleetPage(
                    counts: .init(merchants: 0, activeKeyPairs: 0, merchantsBelowTarget: 0, expiredCertificates: 0),
                    findings: [], weeks: [], rollsByState: [:], rollsByParty: [:], belowTarget: [])
            ),
            ("merchant", FleetMerchantPage(Sample.merchant(name: nil), activeKeyPairs: 0, records)),
            ("invitations", InvitationsPage([], of: nil, hasMore: true)),
        ]
        return pages.map { PageSample(name: "empty \($0.0)", page: $0.1, visitor: operators) }
    }

    /// Pages whose texts are hostile or very long, with very early and very late times.
    static var hostilePages: [PageSample] {
        let keys = [
            Sample.key(1, .current, days: (-70_000_000, 70_000_000), serialNumber: hostile),
            Sample.key(2, .standby, days: (0, 0)), Sample.key(3, .pending, days: nil),
        ]
        let registration = Sample.registration(
            name: hostile, domains: [PageDomain(name: hostile, state: .unexpected)], warnings: [hostile])
        var records = FleetMerchantPage.Records()
        records.keys = keys
        records.registrations = [registration]
        records.events = [Sample.event(1, detail: hostile)]
        records.audit = [Sample.auditRecord(1, reason: hostile)]
        records.rolls = [PageRoll(number: .max, state: .quiet, waitingFor: .time, since: Sample.now, next: hostile)]
        let invitation = Sample.invitation(Sample.longIdentifier, note: hostile)
        let finding = StatusFinding(severity: .critical, code: .storeDamaged, detail: hostile)
        let pages: [(String, any HTMLPage)] = [
            (
                "home",
                MerchantHomePage(
                    merchant: Sample.merchant(Sample.longIdentifier, name: hostile),
                    steps: Sample.steps(next: .upload), focus: Sample.hash(3), keys: keys,
                    outcome: .uploadRefused(UploadProblem(.otherMerchant, requestId: hostile)), liveTag: hostile)
            ),
            (
                "home with a long name",
                MerchantHomePage(
                    merchant: Sample.merchant(name: longName), steps: Sample.steps(next: nil), focus: nil, keys: keys)
            ),
            ("keys", MerchantKeysPage(merchant: Sample.merchant(), keys: keys, hasOpenRoll: false)),
            (
                "domains",
                DomainsPage(
                    merchant: Sample.merchant(name: hostile), hasFile: true, registrations: [registration],
                    input: .init(domain: hostile, name: hostile),
                    check: Sample.report(.redirected(status: 301, location: hostile)))
            ),
            ("unregister", UnregistrationPage(hostile, of: Sample.partner("a&b$c"))),
            ("merchant", FleetMerchantPage(Sample.merchant(name: hostile), activeKeyPairs: .max, records)),
            (
                "search",
                SearchPage(
                    query: hostile,
                    results: [.init(merchant: Sample.longIdentifier, name: hostile, match: .domain(hostile))],
                    hasMore: false)
            ),
            (
                "fleet",
                FleetPage(
                    counts: .init(
                        merchants: .max, activeKeyPairs: .max, merchantsBelowTarget: .max, expiredCertificates: .max),
                    findings: [finding], weeks: [PageWeek(begin: Sample.now, count: .max)],
                    rollsByState: [.started: .max], rollsByParty: [.time: .max], belowTarget: [])
            ),
            ("invitations", InvitationsPage([invitation], of: Sample.longIdentifier, hasMore: true)),
            ("invitation created", InvitationCreatedPage(invitation, url: hostile)),
            ("revoke invitation", InvitationRevocationPage(invitation)),
            ("new invitation", NewInvitationPage(.init(merchant: hostile, days: .max, note: hostile))),
            ("error", ErrorPage(.failed, requestId: hostile, retryAfter: .max)),
        ]
        return pages.map { PageSample(name: "hostile \($0.0)", page: $0.1, visitor: hostileMerchant) }
    }

    /// Pages with lists of 1,000 rows.
    static var long: [PageSample] {
        let count = 1000
        let keys = (0..<count).map { Sample.key($0, .standby, days: (-$0, $0)) }
        let domains = (0..<count).map { PageDomain(name: "shop\($0).example.com", state: .registered) }
        var records = FleetMerchantPage.Records()
        records.keys = keys
        records.certificates = keys.compactMap { key in key.certificate.map { (key: key, certificate: $0) } }
        records.registrations = [Sample.registration(name: "Shop", domains: domains)]
        records.events = (0..<count).map { Sample.event($0, detail: "\($0)") }
        records.audit = (0..<count).map { Sample.auditRecord($0, reason: "\($0)") }
        let results = (0..<count).map {
            SearchPage.Result(merchant: Sample.identifier("merchant.shop\($0)"), name: nil, match: .identifier)
        }
        let pages: [(String, any HTMLPage)] = [
            (
                "home",
                MerchantHomePage(
                    merchant: Sample.merchant(), steps: Sample.steps(next: .upload), focus: Sample.hash(1), keys: keys)
            ),
            ("keys", MerchantKeysPage(merchant: Sample.merchant(), keys: keys, hasOpenRoll: false)),
            (
                "domains",
                DomainsPage(
                    merchant: Sample.merchant(), hasFile: true,
                    registrations: [Sample.registration(name: "Shop", domains: domains)])
            ),
            ("merchant", FleetMerchantPage(Sample.merchant(), activeKeyPairs: count, records)),
            ("search", SearchPage(query: "shop", results: results, hasMore: false)),
            (
                "invitations",
                InvitationsPage(
                    (0..<count).map { Sample.invitation(Sample.merchantIdentifier, note: "\($0)") }, of: nil,
                    hasMore: false)
            ),
        ]
        return pages.map { PageSample(name: "long \($0.0)", page: $0.1, visitor: operators) }
    }
}

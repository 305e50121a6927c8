import Foundation
import HTTPTypes
import MerchantTestSupport
import NIOCore
import PortalServer
import Testing
import Vocabulary

/// Renders every page with ordinary and with extreme values.
@Suite struct PageRenderingTests {
    private let renderer: PageRenderer

    init() throws { renderer = try PageRenderer() }

    private func render(_ sample: PageSample) -> String {
        let context = PageContext(
            visitor: sample.visitor, csrf: "csrf-token", environment: .sandbox, now: Sample.now,
            idempotencyKey: "0123")
        return String(buffer: renderer.render(sample.page, in: context))
    }

    /// Runs `check_pages.py`, which parses the pages with Python's HTML parser.
    private func check(_ samples: [PageSample]) throws {
        var pages: [String: String] = [:]
        for (index, sample) in samples.enumerated() { pages["\(index) \(sample.name)"] = render(sample) }
        let script = try #require(
            Bundle.module.path(forResource: "check_pages", ofType: "py", inDirectory: "Scripts"))
        let outcome = try ChildProcess.run(["python3", "-B", script], input: try JSONEncoder().encode(pages))
        #expect(outcome.status == 0, "\(String(decoding: outcome.outputBytes, as: UTF8.self))\(outcome.error)")
    }

    @Test func `every page is well-formed and accessible`() throws { try check(PageSamples.all) }

    @Test func `pages without data are well-formed and accessible`() throws { try check(PageSamples.empty) }

    @Test func `pages with hostile values are well-formed and accessible`() throws {
        try check(PageSamples.hostilePages)
    }

    @Test func `pages with 1,000 rows are well-formed and accessible`() throws { try check(PageSamples.long) }

    @Test func `no line of the timeline crosses a label in any week, on a narrow screen too`() throws {
        let samples = stride(from: -800, through: 800, by: 7).flatMap { day -> [PageSample] in
            let current = Sample.key(1, .current, days: (day - 400, day + 360))
            let others = [
                Sample.key(2, .standby, days: (day, day + 760)),
                Sample.key(3, .retiring, days: (day - 1100, day - 340)),
            ]
            return [[current], [current] + others].map { keys in
                let page = MerchantKeysPage(merchant: Sample.merchant(), keys: keys, hasOpenRoll: false)
                return PageSample(name: "\(keys.count) keys \(day)", page: page, visitor: .signedOut)
            }
        }
        try check(samples)
    }

    @Test func `the page of a link has the CSRF token of the session only in the form to sign out`() {
        let context = PageContext(
            visitor: .merchant(Sample.merchantIdentifier, name: nil), csrf: "of-link", signOutToken: "of-session",
            environment: .sandbox, now: Sample.now)
        let page = InvitationPage(Sample.openInvitation, path: "/invitations/x")
        let html = String(buffer: renderer.render(page, in: context))
        let tokens = html.matches(of: /action="([^"]+)"[^>]*>\s*<input type="hidden" name="csrf" value="([^"]+)"/)
        #expect(tokens.map { "\($0.1) \($0.2)" } == ["/sign-out of-session", "/invitations/x of-link"])
    }

    @Test func `a page that refuses a large form names the limit`() {
        for (limit, text) in [(FormLimits.fields, "16 KB"), (FormLimits.upload, "256 KB")] {
            let page = ErrorPage(status: 413, requestId: nil, longestBody: limit)
            #expect(render(PageSample(name: "", page: page, visitor: .signedOut)).contains("at most \(text)"))
        }
    }

    @Test func `every placeholder in a text is replaced by its value`() throws {
        for sample in PageSamples.all + PageSamples.empty {
            let html = render(sample)
            // The script of the page replaces these placeholders.
            let texts = html.replacing("{name}", with: "").replacing("{size}", with: "")
            #expect(!texts.contains(/\{\w+\}/), "\(sample.name)")
            #expect(!html.contains("{{"), "\(sample.name)")
        }
    }

    @Test func `values are escaped, and tags in them are not rendered`() throws {
        for sample in PageSamples.hostilePages {
            let html = render(sample)
            #expect(!html.contains("<script>alert"), "\(sample.name)")
            // A literal search compares code units, not characters.
            for part in ["<h4x", "<\u{0301}h4x", "\"h4x"] {
                #expect(html.range(of: part, options: .literal) == nil, "\(sample.name)")
            }
            #expect(!html.contains("\" onload=\""), "\(sample.name)")
        }
        let page = UnregistrationPage(PageSamples.hostile, of: Sample.partner("shop-1"))
        let html = render(PageSample(name: "", page: page, visitor: .signedOut))
        #expect(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&quot;x&#39; &amp; {{page.heading}}"))
    }

    @Test func `a problem is in the title and in the status`() throws {
        let ended = PageSample(name: "", page: SessionEndedPage(after: .upload), visitor: .signedOut)
        #expect(render(ended).contains("<title>Error: Your session has ended - Apple Pay onboarding</title>"))
        #expect(SessionEndedPage(after: .upload).status == 401)
        #expect(InvitationRefusedPage(.used).status == 410)
        #expect(ErrorPage(status: 410, requestId: nil).status == 404)
        for kind in UploadProblem.Kind.allCases { #expect((400..<600).contains(UploadProblem(kind).status)) }
    }

    @Test func `an upload that is refused is described beside the file`() throws {
        let samples = PageSamples.home.filter { $0.page.isProblem && $0.name.contains("uploadRefused") }
        #expect(samples.count == UploadProblem.Kind.allCases.count)
        for sample in samples {
            let html = render(sample)
            #expect(html.contains("aria-describedby=\"certificate-hint alert certificate-chosen\""))
            #expect(html.contains("id=\"alert\" role=\"alert\""))
            // Nothing is between the message and its form.
            #expect(html.contains(/<\/div>\s*<form method="post" action="\/merchant\/certificates"/))
        }
    }

    @Test func `a problem is beside the form with the domain, unless the domain is not registered`() throws {
        for problem in MerchantProblem.allCases {
            let none: [PageRegistration] = []
            let page = DomainsPage(
                merchant: Sample.merchant(), hasFile: true, registrations: none,
                outcome: .problem(problem, requestId: nil))
            let html = render(PageSample(name: "", page: page, visitor: .signedOut))
            let alert = try #require(html.range(of: "id=\"alert\""))
            let heading = try #require(html.range(of: "id=\"check-heading\""))
            let isBeside = alert.lowerBound > heading.lowerBound
            #expect(isBeside == (problem != .domainNotRegistered), "\(problem)")
        }
    }

    @Test func `a fleet without certificates that end shows no empty chart`() throws {
        for (count, hasChart) in [(0, false), (1, true)] {
            let weeks = (0..<13).map { PageWeek(begin: Sample.time(day: $0 * 7), count: count) }
            let page = FleetPage(
                counts: .init(merchants: 1, activeKeyPairs: 0, merchantsBelowTarget: 0, expiredCertificates: 0),
                findings: [], weeks: weeks, rollsByState: [:], rollsByParty: [:], belowTarget: [])
            let html = render(PageSample(name: "", page: page, visitor: .signedOut))
            #expect(html.contains("<svg class=\"weeks\"") == hasChart)
        }
    }

    @Test func `the label of the days that are left does not repeat their unit`() throws {
        let keys = [Sample.key(1, .current, days: (-1, 759))]
        let page = MerchantKeysPage(merchant: Sample.merchant(), keys: keys, hasOpenRoll: false)
        let html = render(PageSample(name: "", page: page, visitor: .signedOut))
        let label = try #require(html.firstMatch(of: /<dt>([^<]+)<\/dt><dd>759 ([^<]+)<\/dd>/))
        #expect(!label.1.lowercased().contains(label.2))
    }

    @Test func `the invitation page shows the time of expiry in every month`() throws {
        for month in 1...12 {
            let text = "2028-\(month < 10 ? "0" : "")\(month)-29T23:59:59Z"
            let expiry = try #require(Timestamp(rfc3339: text))
            let invitation = Sample.invitation(
                Sample.merchantIdentifier, note: nil, expiresAt: expiry)
            let page = InvitationPage(invitation, path: "/invitations/x")
            let html = render(PageSample(name: "", page: page, visitor: .signedOut))
            #expect(html.contains("29 \(Self.months[month - 1]) 2028, 23:59 UTC"))
        }
    }

    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    @Test func `the header fields of pages allow neither inline code nor frames`() {
        #expect(PageHeaders.httpFields.count == PageHeaders.fields.count)
        #expect(!PageHeaders.contentSecurityPolicy.contains("unsafe"))
        #expect(PageHeaders.contentSecurityPolicy.contains("frame-ancestors 'none'"))
        #expect(PageHeaders.httpFields[.cacheControl] == "no-store")
    }

    @Test func `every asset is found at its path, and pages name these paths`() throws {
        let html = render(PageSample(name: "", page: SignInPage(), visitor: .signedOut))
        for asset in PortalAsset.all {
            #expect(PortalAsset.asset(at: asset.path)?.bytes == asset.bytes)
            #expect(html.contains("\"\(asset.path)\""))
        }
        #expect(PortalAsset.asset(at: "/assets/style.css") == nil)
    }
}

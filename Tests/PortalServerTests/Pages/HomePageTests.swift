import NIOCore
import PortalServer
import Testing
import Vocabulary

/// What the overview asks for when all steps of the onboarding are done.
@Suite struct HomePageTests {
    private let renderer: PageRenderer

    init() throws { renderer = try PageRenderer() }

    private func home(_ keys: PageKey...) -> String {
        let page = MerchantHomePage(
            merchant: Sample.merchant(), steps: Sample.steps(next: nil), focus: Sample.hash(1), keys: keys)
        let context = PageContext(
            visitor: .merchant(Sample.merchantIdentifier, name: nil), csrf: "csrf-token", environment: .production,
            now: Sample.now)
        return String(buffer: renderer.render(page, in: context))
    }

    @Test func `the link to the domains changes with the first registered domain`() throws {
        func label(hasDomains: Bool) throws -> Substring {
            let page = MerchantHomePage(
                merchant: Sample.merchant(), steps: Sample.steps(next: nil), focus: Sample.hash(1), keys: [],
                hasDomains: hasDomains)
            let context = PageContext(visitor: .signedOut, csrf: nil, environment: .production, now: Sample.now)
            let html = String(buffer: renderer.render(page, in: context))
            return try #require(html.firstMatch(of: /href="\/merchant\/domains">([^<]+)</)).1
        }
        let before = try label(hasDomains: false)
        let after = try label(hasDomains: true)
        #expect(before != after)
    }

    private func link(toCSROf number: Int) -> String { "\"/merchant/keys/\(Sample.hash(number).base64URL)/csr\"" }

    private static let upload = "action=\"/merchant/certificates\""
    private static let roll = "href=\"/merchant/roll\""

    @Test func `if a key pair waits for its certificate, the page offers its CSR and the upload`() {
        let html = home(Sample.key(1, .current, days: (-10, 750)), Sample.key(2, .pending, days: nil))
        #expect(html.contains(link(toCSROf: 2)))
        #expect(html.contains(Self.upload))
    }

    @Test func `a merchant who has a reserve key can still replace the current key`() {
        let html = home(Sample.key(1, .current, days: (-10, 750)), Sample.key(2, .pending, days: nil))
        #expect(html.contains("class=\"button button-plain\" \(Self.roll)"))
    }

    @Test func `of several key pairs that wait for a certificate, only the oldest is shown`() {
        let html = home(
            Sample.key(1, .current, days: (-10, 750)), Sample.key(2, .pending, days: nil),
            Sample.key(3, .pending, days: nil))
        #expect(html.contains(link(toCSROf: 2)))
        #expect(!html.contains(link(toCSROf: 3)))
    }

    @Test func `in the last 30 days of the certificate, the replacement comes first`() {
        let html = home(Sample.key(1, .current, days: (-700, 29)), Sample.key(2, .pending, days: nil))
        #expect(html.contains("class=\"button\" \(Self.roll)"))
        #expect(!html.contains(link(toCSROf: 2)))
    }

    @Test(arguments: [KeyState.standby, .retiring, .revoked])
    func `if no key pair waits for a certificate, the page offers no upload`(_ state: KeyState) {
        let html = home(Sample.key(1, .current, days: (-10, 750)), Sample.key(2, state, days: (-1, 759)))
        #expect(!html.contains(Self.upload))
        #expect(html.contains(Self.roll))
    }
}

import AppleGateway
import Foundation
import MerchantCore
import MerchantTestSupport
import NIOHTTP1
import OutboundHTTP
import Testing
import Vocabulary

/// Sites with defects that a merchant's domain can have.
@Suite struct DomainCheckTests {
    static let file = Array(String(repeating: "7B227073704964223A22", count: 450).utf8)
    // swift-format-ignore: NeverForceUnwrap
    static let domain = DomainName(ascii: "shop.example.com")!  // in the required form

    let fixture: GatewayFixture

    init() throws { fixture = try GatewayFixture.shared.get() }

    private func check(
        _ address: String?, internal allowsInternal: Bool = true, timeout: Duration = .seconds(10),
        domain: DomainName = domain, roots: TrustRoots? = nil
    ) async throws -> DomainCheckReport {
        var settings = DomainCheck.Settings()
        settings.allowsInternalAddresses = allowsInternal
        settings.roots = try roots ?? fixture.roots()
        settings.timeout = timeout
        if let address {
            let named = try #require(DomainCheck.Address(address))
            settings.addresses[domain.rawValue] = named
        }
        return await DomainCheck(settings: settings).check(domain, expecting: Self.file)
    }

    private func check(
        names: [String] = ["shop.example.com"], days: ClosedRange<Int> = -1...90, timeout: Duration = .seconds(10),
        roots: TrustRoots? = nil, reply: @escaping @Sendable (TestSite.Request) -> TestSite.Reply
    ) async throws -> DomainCheckReport {
        let site = try await TestSite(
            fixture, names: names, from: days.lowerBound, until: days.upperBound, reply: reply)
        let report = try await check("127.0.0.1:\(site.port)", timeout: timeout, roots: roots)
        await site.stop()
        return report
    }

    @Test func `a site that serves the file passes; the request has its host name and the file's path`() async throws {
        let asked = Guarded<[String]>([])
        let report = try await check { request in
            asked.update { $0.append("\(request.head.method) \(request.head.uri) \(request.head.headers["Host"])") }
            return .answer(200, ["Content-Type": "text/html"], Self.file)
        }
        #expect(report.finding == .passed)
        #expect(report.address == "127.0.0.1")
        #expect(asked.value.count == 1)
        #expect(
            asked.value.first?.hasPrefix(
                "GET /.well-known/apple-developer-merchantid-domain-association [\"shop.example.com") == true)
    }

    @Test func `a site on IPv6 is reached at that address`() async throws {
        let site = try await TestSite(fixture, names: ["shop.example.com"], host: "::1") { _ in
            .answer(200, [:], Self.file)
        }
        let report = try await check("[::1]:\(site.port)")
        await site.stop()
        #expect(report.finding == .passed)
        #expect(report.address == "::1")
    }

    @Test func `other content is reported with sizes and digests`() async throws {
        let shorter = try await check { _ in .answer(200, [:], Array(Self.file.dropLast())) }
        guard case .wrongContent(let difference) = shorter.finding else {
            Issue.record("\(shorter.finding)")
            return
        }
        #expect(difference.foundSize == 8999)
        #expect(difference.expectedSize == 9000)
        #expect(difference.foundDigest != difference.expectedDigest)
        let hints: [([UInt8], String)] = [
            (Self.file + [10], "white space"), ([], "empty"), (Array("<!doctype html>".utf8), "web page"),
            ([0xEF, 0xBB, 0xBF] + Self.file, "byte order mark"),
        ]
        for (bytes, hint) in hints {
            let report = try await check { _ in .answer(200, [:], bytes) }
            #expect(report.finding.code == "wrongContent")
            #expect(report.finding.detail.contains(hint), "\(report.finding.detail)")
        }
    }

    @Test func `a redirect is reported and not followed`() async throws {
        let count = Guarded(0)
        let report = try await check { _ in
            count.update { $0 += 1 }
            return .answer(301, ["Location": "https://www.shop.example.com/x"], Self.file)
        }
        #expect(report.finding == .redirected(status: 301, location: "https://www.shop.example.com/x"))
        #expect(count.value == 1)
    }

    @Test(arguments: [204, 401, 403, 404, 500, 503])
    func `any status but 200 is reported`(status: Int) async throws {
        let report = try await check { _ in .answer(status, [:], status == 204 ? [] : Self.file) }
        #expect(report.finding == .wrongStatus(status))
    }

    @Test func `certificates are verified: expired, not yet valid, for another name, untrusted`() async throws {
        let expired = try await check(days: -90...(-2)) { _ in .answer(200, [:], Self.file) }
        #expect(expired.finding.code == "certificateExpired")
        let early = try await check(days: 2...90) { _ in .answer(200, [:], Self.file) }
        #expect(early.finding.code == "certificateNotYetValid")
        let other = try await check(names: ["other.example.com"]) { _ in .answer(200, [:], Self.file) }
        guard case .certificateForOtherName(let detail) = other.finding else {
            Issue.record("\(other.finding)")
            return
        }
        #expect(detail.contains("other.example.com") && detail.contains("shop.example.com"))
        let unknown = try await check(roots: .system) { _ in .answer(200, [:], Self.file) }
        #expect(unknown.finding.code == "certificateUntrusted")
        // A wildcard that covers the name is accepted.
        let wildcard = try await check(names: ["*.example.com"]) { _ in .answer(200, [:], Self.file) }
        #expect(wildcard.finding == .passed)
    }

    @Test func `a server that is silent, absent, endless or not a web server is reported in time`() async throws {
        let silent = try await check(timeout: .seconds(1)) { _ in .nothing }
        #expect(silent.finding == .timedOut(seconds: 1))
        let site = try await TestSite(fixture) { _ in .nothing }
        await site.stop()
        let closed = try await check("127.0.0.1:\(site.port)")
        #expect(closed.finding == .connectionRefused("127.0.0.1"))
        let endless = try await check { _ in .answer(200, [:], [UInt8](repeating: 65, count: (1 << 20) + 1)) }
        #expect(endless.finding == .tooLarge(limit: 1 << 20))
        let cut = try await check { _ in .half(Self.file) }
        #expect(cut.finding.code == "connectionFailed")
        let other = try await check { _ in .bytes(Array("220 mail.example.com\r\n\r\n".utf8)) }
        #expect(other.finding.code == "protocolViolation", "\(other.finding)")
    }

    @Test func `a name that does not resolve is reported`() async throws {
        let report = try await check(
            nil, internal: false, domain: try #require(DomainName(ascii: "nowhere.invalid")))
        #expect(report.finding.code == "nameNotResolved", "\(report.finding)")
    }

    @Test(arguments: [
        "127.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "[2001:db8::1]",
    ])
    func `an address that is not public is refused without a connection`(address: String) async throws {
        let report = try await check(address, internal: false)
        guard case .addressRefused(_, let kind) = report.finding else {
            Issue.record("\(report.finding)")
            return
        }
        #expect(!kind.isEmpty)
        #expect(report.address == nil)
    }

    /// These texts have the form of domain names, but resolvers read them as addresses. So the check must refuse the
    /// address after the resolution.
    @Test(arguments: ["0x7f.0x1", "0177.0.0x1", "0x0a.0x1", "169.254.169.0xfe", "192.168.0x1"])
    func `a name that resolves to an internal address is refused without a connection`(name: String) async throws {
        let report = try await check(nil, internal: false, domain: try #require(DomainName(ascii: name)))
        guard case .addressRefused = report.finding else {
            Issue.record("\(report.finding)")
            return
        }
        #expect(report.address == nil)
    }

    @Test(arguments: ["localhost", "shop.example.com:443", "1.2.3", "1.2.3.4/x", "", "1.2.3.4:x"])
    func `a text that is not an IP address with an optional port is refused`(text: String) {
        #expect(DomainCheck.Address(text) == nil)
    }
}

import Foundation
import Logging
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import PortalServer
import RESTKit
import ServerKit
import Testing
import Vocabulary

@Suite struct TokenNotificationTests {
    private static let event = "9a0b4b6e-3c1d-4f52-8a77-0c8d2f5e6b11"
    private static let path = "/tokenapi/notification/merchantToken/\(event)"

    /// The fixture's merchant gets the notifications whose path contains no secret.
    private static var policy: MerchantTokenPolicy {
        var policy = MerchantTokenPolicy()
        policy.merchantIdentifier = ServerFixture.merchant
        return policy
    }

    private static func ranges(_ texts: String...) throws -> [AddressRange] {
        try texts.map { try #require(AddressRange(text: $0)) }
    }

    private static func waiting(_ portal: ServerFixture) async throws -> Int {
        try await portal.operations.merchantTokens.queue().waiting
    }

    /// The lines of a response's head, in lower case.
    private static func head(_ portal: ServerFixture, _ path: String, _ arguments: [String] = []) async throws
        -> [String]
    {
        try await portal.curl(path, ["--include"] + arguments).body.lowercased()
            .components(separatedBy: "\r\n\r\n")[0].components(separatedBy: "\r\n")
    }

    @Test func `a notification is stored once, and each response is 200 with an empty body that no cache stores`()
        async throws
    {
        try await ServerFixture.run(merchantTokens: Self.policy) { portal in
            for _ in 0..<3 {
                let reply = try await portal.curl(Self.path)
                #expect(reply.status == "200" && reply.body.isEmpty && reply.contentType.isEmpty, "\(reply)")
            }
            #expect(try await Self.waiting(portal) == 1)
            for version in ["--http1.1", "--http2"] {
                let head = try await Self.head(portal, Self.path, [version])
                #expect(head.contains("cache-control: no-store") && head.contains("content-length: 0"), "\(head)")
                #expect(head.contains { $0.hasPrefix("strict-transport-security:") })
                #expect(!head.contains { $0.hasPrefix("set-cookie:") })
            }
        }
    }

    @Test func `the query is ignored, a body is refused, and the only methods are GET and HEAD`() async throws {
        try await ServerFixture.run(merchantTokens: Self.policy) { portal in
            #expect(try await portal.curl("\(Self.path)?cachebuster=1&x").status == "200")
            #expect(try await Self.waiting(portal) == 1)
            let head = try await portal.curl("\(Self.path)2", ["--head"])
            #expect(head.status == "200", "\(head)")
            #expect(try await Self.waiting(portal) == 2)
            for body in [["--data", "x"], ["--data", "x", "--header", "Transfer-Encoding: chunked"]] {
                let reply = try await portal.curl("\(Self.path)3", ["--request", "GET"] + body)
                #expect(reply.status == "400" && reply.body.contains("\"malformed\""), "\(reply)")
            }
            for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
                let head = try await Self.head(portal, "\(Self.path)3", ["--request", method])
                #expect(head[0].contains(" 405") && head.contains("allow: get, head"), "\(head)")
            }
            #expect(try await Self.waiting(portal) == 2)
        }
    }

    @Test(arguments: [
        "%20", "a%20b", "a%2Fb", "%00", "%ff", "%zz", "a+b", "ä", "..%2F..", String(repeating: "a", count: 129),
        String(repeating: "a", count: 7000),
    ])
    func `an invalid identifier gets 200 and is not stored`(identifier: String) async throws {
        try await ServerFixture.run(merchantTokens: Self.policy) { portal in
            let reply = try await portal.curl("/tokenapi/notification/merchantToken/\(identifier)", ["--path-as-is"])
            #expect(reply.status == "200" && reply.body.isEmpty, "\(reply)")
            #expect(try await Self.waiting(portal) == 0)
        }
    }

    @Test(arguments: [
        "/tokenapi", "/tokenapi/", "/tokenapi/notification/merchantToken", "/tokenapi/notification/merchantToken/",
        "/tokenapi/notification/merchanttoken/a", "/tokenapi/notification/merchantToken/a/b",
        "/tokenapi/a/b/notification/merchantToken/c", "/tokenapi/notification/other/a",
    ])
    func `another path below the prefix gets a problem document with 404`(path: String) async throws {
        try await ServerFixture.run(merchantTokens: Self.policy) { portal in
            let reply = try await portal.curl(path)
            #expect(reply.status == "404" && reply.contentType == "application/problem+json", "\(reply)")
            #expect(try await Self.waiting(portal) == 0)
        }
    }

    @Test func `empty segments are ignored, because a merchant's URL may end with a slash`() async throws {
        try await ServerFixture.run(merchantTokens: Self.policy) { portal in
            let path = "/tokenapi//notification/merchantToken/\(Self.event)"
            let reply = try await portal.curl(path, ["--path-as-is"])
            #expect(reply.status == "200")
            #expect(try await Self.waiting(portal) == 1)
        }
    }

    @Test func `a secret determines the merchant; with an unknown one, the response is 200 and nothing is stored`()
        async throws
    {
        try await ServerFixture.run { portal in
            let created = try await portal.operations.merchantTokens.createNotificationPath(
                for: ServerFixture.merchant, for: ServerFixture.request)
            let unknown = String(created.secret.reversed())
            for secret in [unknown, "x", String(repeating: "a", count: 5000), "%ff"] {
                let reply = try await portal.curl("/tokenapi/\(secret)/notification/merchantToken/\(Self.event)", [])
                #expect(reply.status == "200" && reply.body.isEmpty, "\(reply)")
            }
            // Without a secret, the setting or the only platform integrator names the merchant. Here there is neither.
            #expect(try await portal.curl(Self.path).status == "200")
            #expect(try await Self.waiting(portal) == 0)
            let reply = try await portal.curl("/tokenapi/\(created.secret)/notification/merchantToken/\(Self.event)")
            #expect(reply.status == "200")
            #expect(try await Self.waiting(portal) == 1)
        }
    }

    @Test func `the prefix is a setting, and a path with another prefix gets the page for an unknown path`()
        async throws
    {
        let prefix = try #require(TokenNotificationPrefix(text: "/apple/hooks"))
        try await ServerFixture.run(
            notifications: TokenNotificationPolicy(prefix: prefix), merchantTokens: Self.policy
        ) { portal in
            let standard = try await portal.curl(Self.path, ["--request", "GET"])
            #expect(standard.status == "404" && standard.contentType.hasPrefix("text/html"), "\(standard)")
            #expect(try await portal.curl("/apple/hooks/notification/merchantToken/\(Self.event)").status == "200")
            #expect(try await Self.waiting(portal) == 1)
            // The prefix ends where a segment ends.
            #expect(try await portal.curl("/apple/hooksnotification/merchantToken/a").status == "404")
        }
    }

    @Test(arguments: [
        "", "/", "tokenapi", "/tokenapi/", "//tokenapi", "/token api", "/v1", "/v1/x", "/assets", "/.well-known/x",
        "/login", "/a/../b", "/a/.", "/a%20b", "/" + String(repeating: "a", count: 64),
    ])
    func `a prefix that is malformed, too long or could hide a page or a route is refused`(text: String) {
        #expect(TokenNotificationPrefix(text: text) == nil)
    }

    @Test func `each address has its own rate limit for notifications, and other requests do not count`() async throws {
        var notifications = TokenNotificationPolicy()
        // A sixth of the rate may arrive at once: 2.
        notifications.perMinute = 12
        try await ServerFixture.run(notifications: notifications, merchantTokens: Self.policy) { portal in
            func status(_ number: Int, from address: String) async throws -> String {
                try await portal.curl("\(Self.path)-\(number)", ["--interface", address]).status
            }
            #expect(try await status(1, from: "127.0.0.2") == "200")
            // A notification with an invalid identifier counts, too.
            let junk = try await portal.curl(
                "/tokenapi/notification/merchantToken/%20", ["--interface", "127.0.0.2"])
            #expect(junk.status == "200")
            let refused = try await portal.curl("\(Self.path)-2", ["--interface", "127.0.0.2", "--include"])
            #expect(refused.status == "429" && refused.body.contains("tooManyRequests"), "\(refused)")
            #expect(refused.body.lowercased().contains(#/retry-after: [1-5]\r\n/#), "\(refused)")
            #expect(try await status(3, from: "127.0.0.3") == "200")
            #expect(try await portal.curl("/v1/openapi.yaml", ["--interface", "127.0.0.2"]).status == "200")
            #expect(try await Self.waiting(portal) == 2)
        }
    }

    @Test func `the rate limit of other requests does not apply to notifications`() async throws {
        var rates = RequestRates.Limits()
        rates.address = RequestRates.Rate(perMinute: 1, burst: 1)
        try await ServerFixture.run(rates: rates, merchantTokens: Self.policy) { portal in
            let statuses = try await [portal.curl("/").status, portal.curl("/").status, portal.curl(Self.path).status]
            #expect(statuses == ["200", "429", "200"])
        }
    }

    @Test func `an address outside the permitted ranges gets 403, and nothing is stored`() async throws {
        var notifications = TokenNotificationPolicy()
        notifications.sources = try Self.ranges("127.0.0.2", "17.58.0.0/18")
        try await ServerFixture.run(notifications: notifications, merchantTokens: Self.policy) { portal in
            let refused = try await portal.curl(Self.path)
            #expect(refused.status == "403" && refused.body.contains("forbidden"), "\(refused)")
            #expect(try await Self.waiting(portal) == 0)
            #expect(try await portal.curl(Self.path, ["--interface", "127.0.0.2"]).status == "200")
            // A header field of an untrusted client does not count.
            let forged = try await portal.curl(
                Self.path, headers: ["X-Forwarded-For: 17.58.1.1"], ["--request", "GET"])
            #expect(forged.status == "403")
        }
    }

    @Test func `behind a trusted proxy, the client's address counts`() async throws {
        var notifications = TokenNotificationPolicy()
        notifications.sources = try Self.ranges("17.58.0.0/18", "2001:db8::/32")
        // A sixth of the rate may arrive at once: 1.
        notifications.perMinute = 6
        try await ServerFixture.run(
            notifications: notifications, proxies: try Self.ranges("127.0.0.1"), merchantTokens: Self.policy
        ) { portal in
            func status(from address: String) async throws -> String {
                let headers = ["X-Forwarded-For: \(address)"]
                return try await portal.curl(Self.path, headers: headers, ["--request", "GET"]).status
            }
            var statuses: [String] = []
            // The /64 network of an IPv6 address counts as one address.
            for address in [
                "17.58.1.1", "17.58.1.1", "17.58.64.1", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1",
            ] { statuses.append(try await status(from: address)) }
            #expect(statuses == ["200", "429", "403", "200", "429", "200"])
        }
    }

    @Test func `while too many notifications wait, the response is 503 with Retry-After`() async throws {
        var policy = Self.policy
        policy.waitingPerAddress = 1
        try await ServerFixture.run(merchantTokens: policy) { portal in
            #expect(try await portal.curl("\(Self.path)-1").status == "200")
            let head = try await Self.head(portal, "\(Self.path)-2")
            #expect(head[0].contains(" 503") && head.contains { $0.hasPrefix("retry-after:") }, "\(head)")
            // The repeated notification is waiting already, so the limit does not apply to it.
            #expect(try await portal.curl("\(Self.path)-1").status == "200")
            #expect(try await Self.waiting(portal) == 1)
        }
    }

    @Test func `a session of the pages has no effect, and its cookie is not renewed`() async throws {
        try await ServerFixture.run(merchantTokens: Self.policy) { portal in
            for cookie in [try await portal.signInMerchant(), "Cookie: __Host-merchantkeyd=mks_invalid"] {
                let reply = try await portal.curl(Self.path, headers: [cookie], ["--include"])
                #expect(reply.status == "200" && !reply.body.lowercased().contains("set-cookie"), "\(reply)")
            }
            let token = try await portal.curl(Self.path, headers: ["Authorization: Bearer mka_invalid"])
            #expect(token.status == "200")
        }
    }

    @Test func `the log contains no event identifier and no secret`() async throws {
        let log = Guarded<[String]>([])
        var logger = Logger(label: "portal") { _ in ListLogHandler(lines: log) }
        logger.logLevel = .trace
        var notifications = TokenNotificationPolicy()
        // A sixth of the rate may arrive at once: 10.
        notifications.perMinute = 60
        try await ServerFixture.run(notifications: notifications, logger: logger, merchantTokens: Self.policy) {
            portal in
            let created = try await portal.operations.merchantTokens.createNotificationPath(
                for: ServerFixture.merchant, for: ServerFixture.request)
            for path in [Self.path, "/tokenapi/\(created.secret)/notification/merchantToken/\(Self.event)"] {
                let statuses = try await [
                    portal.curl(path).status, portal.curl(path, ["--request", "POST"]).status,
                    portal.curl(path + "/x").status,
                ]
                #expect(statuses == ["200", "405", "404"])
            }
            var status = "200"
            while status == "200" { status = try await portal.curl(Self.path).status }
            #expect(status == "429" && !log.value.isEmpty)
            #expect(!log.value.contains { $0.contains(Self.event) || $0.contains(created.secret) }, "\(log.value)")
        }
    }
}

/// Keeps each line of a log.
private struct ListLogHandler: LogHandler {
    let lines: Guarded<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = "\(event.level) \(event.message) \(event.metadata ?? [:])"
        lines.update { $0.append(line) }
    }
}

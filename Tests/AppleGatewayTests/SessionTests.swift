import AppleGateway
import Foundation
import MerchantCore
import MerchantTestSupport
import NIOCore
import NIOHTTP1
import OutboundHTTP
import Testing
import Vocabulary

/// Requests for merchant sessions over TLS.
@Suite struct SessionTests {
    let fixture: GatewayFixture

    init() throws { fixture = try GatewayFixture.shared.get() }

    static let request = SessionRequest(
        merchantIdentifier: "merchant.com.example.shop", displayName: "Größe / \"Shop\"", initiative: .web,
        initiativeContext: "shop.example.com")

    private func failure(
        _ gateway: AppleGateway, at host: SessionHost? = nil, as owner: IdentityOwner = .platform,
        within limit: Duration = .seconds(5)
    ) async -> GatewayError? {
        await AppleGatewayTests.failure { () throws(GatewayError) in
            _ = try await gateway.requestSession(Self.request, at: host, as: owner, within: limit)
        }
    }

    /// Runs a site with one reply, and a gateway that calls it.
    private func withReply(
        _ reply: @escaping @Sendable (TestSite.Request) -> TestSite.Reply, clock: any WallClock = SystemClock(),
        _ body: (TestSite, AppleGateway) async throws -> Void
    ) async throws {
        try await withSite(fixture, reply: reply) { site in
            let url = "https://localhost:\(site.port)"
            let gateway = try fixture.gateway(url, fixture.files("good"), clock: clock, waits: Guarded([]))
            try await withGateway(gateway) { try await body(site, $0) }
        }
    }

    @Test func `Apple gets each field under its name, and the session is returned byte for byte`() async throws {
        let session = Array(" {\"b\" : 1.50, \"a\":\"\\u00e9 é\",\r\n \"a\":[]}\n".utf8)
        let requests = Guarded<[TestSite.Request]>([])
        try await withReply { request in
            requests.update { $0.append(request) }
            return .answer(200, ["Content-Type": "application/json"], session)
        } _: { _, gateway in
            let found = try await gateway.requestSession(Self.request, at: nil, as: .platform, within: .seconds(5))
            #expect(found == session)
            let messaging = SessionRequest(
                merchantIdentifier: "partner-1", displayName: "Shop", initiative: .messaging,
                initiativeContext: "https://gateway.example.com/x", domainName: "shop.example.com")
            _ = try await gateway.requestSession(messaging, at: nil, as: .platform, within: .seconds(5))
        }
        let heads = requests.value.map(\.head)
        #expect(heads.map(\.uri) == ["/paymentservices/paymentSession", "/paymentservices/paymentSession"])
        #expect(heads.allSatisfy { $0.method == .POST && $0.headers["Content-Type"] == ["application/json"] })
        let bodies = try requests.value.map { try JSONDecoder().decode([String: String].self, from: Data($0.body)) }
        let expected = [
            [
                "merchantIdentifier": "merchant.com.example.shop", "displayName": "Größe / \"Shop\"",
                "initiative": "web", "initiativeContext": "shop.example.com",
            ],
            [
                "merchantIdentifier": "partner-1", "displayName": "Shop", "initiative": "messaging",
                "initiativeContext": "https://gateway.example.com/x", "domainName": "shop.example.com",
            ],
        ]
        #expect(bodies == expected)
    }

    @Test(arguments: [TestGatewayServer.pythonTLS13, .pythonTLS12])
    func `a server in Python issues a session to a merchant's own identity`(server: TestGatewayServer) async throws {
        let custody = try CustodyFixture(fixture)
        let merchant = try #require(MerchantIdentifier("merchant.com.example.shop"))
        try custody.add("own", issuedBy: fixture.authority, days: 0...700, of: merchant)
        try await server.serve(fixture) { url in
            try await withGateway(fixture.gateway(url, custody.identities)) { gateway in
                let session = try await gateway.requestSession(
                    Self.request, at: nil, as: .merchant(merchant), within: .seconds(5))
                #expect(
                    String(decoding: session, as: UTF8.self)
                        == #"{"merchantIdentifier": "merchant.com.example.shop", "nonce": "\u00e9\n", "more": [1.5]}"#)
                #expect(await failure(gateway, as: .platform)?.kind == .identityUnusable)
            }
        }
    }

    static let statuses: [(Int, GatewayError.Kind)] = [
        (400, .refused), (401, .unauthorized), (403, .forbidden), (404, .unexpectedResponse),
        (409, .unexpectedResponse),
        (417, .platformNotRegistered), (429, .rateLimited), (500, .failedAtApple), (503, .failedAtApple),
        (302, .unexpectedResponse), (307, .unexpectedResponse),
    ]

    @Test(arguments: statuses)
    func `each status causes its error, with Apple's message, and the request is not repeated`(
        status: Int, kind: GatewayError.Kind
    ) async throws {
        let message =
            "Payment Services Exception merchantId=AB unauthorized to process transactions on behalf of merchantId=CD\u{1B}"
        let body = try JSONEncoder().encode(["statusMessage": message, "statusCode": "\(status)"])
        let requests = Guarded(0)
        try await withReply { _ in
            requests.update { $0 += 1 }
            return .answer(status, ["Location": "https://localhost/", "x-keystone-correlationid": "c-1"], Array(body))
        } _: { site, gateway in
            let found = try #require(await failure(gateway))
            #expect(found.kind == kind)
            #expect(found.status == status)
            #expect(found.correlationIdentifier == "c-1")
            #expect(found.detail.contains("unauthorized to process transactions on behalf of merchantId=CD?"))
            #expect(requests.value == 1 && site.connections == 1)
        }
    }

    static let unusable: [[UInt8]] = [
        [], Array("[1]".utf8), Array("null".utf8), Array("\"SSH\"".utf8), Array("{\"a\":".utf8),
        Array("<html><body>certificate</body></html>".utf8), [0xFF, 0xFE],
        Array("{\"a\":\"\(String(repeating: "x", count: 65_536))\"}".utf8),
    ]

    @Test(arguments: unusable.indices, [200, 201])
    func `a session that is not a JSON object of at most 64 KiB is refused, and the error does not quote it`(
        index: Int, status: Int
    ) async throws {
        try await withReply { _ in
            .answer(status, [:], Self.unusable[index])
        } _: { _, gateway in
            let found = try #require(await failure(gateway))
            #expect(found.kind == .unexpectedResponse)
            #expect(found.status == status)
            #expect(!found.detail.contains("xxx") && !found.detail.contains("SSH"))
        }
    }

    @Test func `a session of 64 KiB is accepted`() async throws {
        let session = Array("{\"a\":\"\(String(repeating: "x", count: 65_536 - 8))\"}".utf8)
        try await withReply { _ in
            .answer(200, [:], session)
        } _: { _, gateway in
            let found = try await gateway.requestSession(Self.request, at: nil, as: .platform, within: .seconds(5))
            #expect(found == session)
        }
    }

    static let broken: [(TestSite.Reply, GatewayError.Kind)] = [
        (.nothing, .responseNotReceived),
        (.byteByByte(Array("{\"a\":1}".utf8), pause: .milliseconds(200)), .responseNotReceived),
        (.half(Array("{\"a\":1}".utf8)), .responseNotReceived), (.reset, .responseNotReceived),
        (.bytes(Array("SSH-2.0-OpenSSH\r\n\r\n".utf8)), .unexpectedResponse),
    ]

    @Test(arguments: broken.indices)
    func `a call to a server that hangs, sends slowly, resets or speaks no HTTP ends in time`(
        index: Int
    ) async throws {
        let (reply, kind) = Self.broken[index]
        let requests = Guarded(0)
        try await withReply { _ in
            requests.update { $0 += 1 }
            return reply
        } _: { _, gateway in
            let begin = ContinuousClock.now
            #expect(await failure(gateway, within: .milliseconds(700))?.kind == kind)
            #expect(ContinuousClock.now - begin < .seconds(4))
            // Apple received the request, so it is not repeated.
            #expect(requests.value == 1)
        }
    }

    @Test func `a call is repeated once if nothing was sent`() async throws {
        let waits = Guarded<[Duration]>([])
        // Port 1 of the loopback address is closed.
        let gateway = try fixture.gateway("https://127.0.0.1:1", fixture.files("good"), waits: waits)
        try await withGateway(gateway) { gateway in
            #expect(await failure(gateway)?.kind == .unreachable)
            #expect(waits.value.count == 1)
            #expect(waits.value.allSatisfy { $0 <= .milliseconds(100) })
        }
    }

    @Test func `a session is requested at the chosen host`() async throws {
        let session = Array("{}".utf8)
        try await withReply { _ in
            .answer(500, [:], [])
        } _: { configured, gateway in
            try await withSite(fixture) { _ in
                .answer(200, [:], session)
            } _: { chosen in
                let host = SessionHost(name: "localhost", port: chosen.port)
                let found = try await gateway.requestSession(Self.request, at: host, as: .platform, within: .seconds(5))
                #expect(found == session)
                #expect(configured.connections == 0)
            }
        }
    }

    @Test func `each host has its own circuit breaker for sessions, separate from the one for registrations`()
        async throws
    {
        let status = Guarded(503)
        let clock = HandMovedClock(.now)
        try await withReply({ _ in .answer(status.value, [:], Array("{}".utf8)) }, clock: clock) { site, gateway in
            for _ in 0..<10 { #expect(await failure(gateway)?.kind == .failedAtApple) }
            let refused = await failure(gateway)
            #expect(refused?.kind == .circuitOpen)
            #expect(refused?.retryAfter == 5)
            #expect(gateway.circuitHealth == .available)
            status.value = 200
            // The same server by another name is another host.
            let other = SessionHost(name: "127.0.0.1", port: site.port)
            #expect(await failure(gateway, at: other) == nil)
            clock.advance(by: .seconds(5))
            #expect(await failure(gateway) == nil)
        }
    }

    @Test func `a pause that Apple asks for applies to one identity, for at most five seconds`() async throws {
        let limited = Guarded(true)
        let merchant = try #require(MerchantIdentifier("merchant.com.example.shop"))
        try await withSite(fixture) { _ in
            limited.value
                ? .answer(429, ["Retry-After": "60"], []) : .answer(200, [:], Array("{}".utf8))
        } _: { site in
            let clock = HandMovedClock(.now)
            let identities = IdentityTable(
                platform: try fixture.files("good"), merchants: [merchant: try fixture.files("other")])
            let gateway = try fixture.gateway("https://localhost:\(site.port)", identities, clock: clock)
            try await withGateway(gateway) { gateway in
                #expect(await failure(gateway, as: .merchant(merchant))?.retryAfter == 60)
                limited.value = false
                // The call fails at once, because a buyer cannot wait for the end of the pause.
                let next = await failure(gateway, as: .merchant(merchant))
                #expect(next?.kind == .rateLimited)
                #expect(next?.status == nil)
                #expect(await failure(gateway) == nil)
                clock.advance(by: .seconds(6))
                #expect(await failure(gateway, as: .merchant(merchant)) == nil)
            }
        }
    }
}

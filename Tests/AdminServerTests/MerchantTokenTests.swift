import AdminServer
import Foundation
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct MerchantTokenTests {
    private static func items(_ reply: Reply, _ name: String) throws -> [String] {
        #expect(reply.status == 200, "\(reply.text)")
        return (try reply.json()["items"] as? [[String: any Sendable]] ?? []).compactMap { $0[name] as? String }
    }

    private static func identifier(_ text: String) throws -> MerchantTokenIdentifier {
        try #require(MerchantTokenIdentifier(text: text))
    }

    /// Stores tokens `token-1`, `token-2` and so on, of the merchants in this order. `last` changes the last token.
    private static func store(
        _ merchants: [MerchantIdentifier], in server: TestServer,
        changing last: (inout MerchantToken) -> Void = { _ in }
    ) async throws {
        for (index, merchant) in merchants.enumerated() {
            var token = MerchantToken(
                identifier: try identifier("token-\(index + 1)"), merchantIdentifier: merchant,
                firstSeenAt: server.clock.now, lastSeenAt: server.clock.now)
            if index == merchants.count - 1 { last(&token) }
            let stored = token
            try await server.repository.write { try $0.store(stored) }
        }
    }

    @Test func `tokens are listed by identifier in pages, and by merchant and state`() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            try await Self.store([added.merchant, added.other, added.merchant], in: server) { $0.state = .unlinked }
            for (query, expected) in [
                ("", ["token-1", "token-2", "token-3"]), ("?merchant=\(added.other)", ["token-2"]),
                ("?state=unlinked", ["token-3"]), ("?state=unlinked&merchant=\(added.other)", []),
                ("?limit=2", ["token-1", "token-2"]), ("?limit=2&cursor=token-2", ["token-3"]),
            ] {
                let reply = try await server.curl("GET", "/v1/merchant-tokens\(query)")
                #expect(try Self.items(reply, "merchantTokenIdentifier") == expected, "\(query)")
                #expect((reply.string("nextCursor") == "token-2") == (query == "?limit=2"))
            }
            for query in ["?state=closed", "?cursor=a%20b", "?merchant=x", "?limit=0", "?token=1"] {
                #expect(try await server.curl("GET", "/v1/merchant-tokens\(query)").status == 400, "\(query)")
            }
        }
    }

    @Test func `a caller with a permit for one merchant sees only its tokens, and gets 403 for the others`()
        async throws
    {
        let merchant = try #require(MerchantIdentifier("merchant.com.example.shop"))
        try await TestServer.run(policy: TestServer.policy([.read, .administer], merchants: [merchant])) { server in
            let added = try await server.addTwoMerchants()
            try await Self.store([added.merchant, added.other], in: server)
            let list = try await server.curl("GET", "/v1/merchant-tokens")
            #expect(try Self.items(list, "merchantTokenIdentifier") == ["token-1"])
            #expect(try await server.curl("GET", "/v1/merchant-tokens?merchant=\(added.other)").status == 403)
            #expect(try await server.curl("GET", "/v1/merchant-tokens/token-1").status == 200)
            #expect(try await server.curl("POST", "/v1/merchant-tokens/token-1/unlink?dryRun=true").status == 200)
            for (method, path) in [
                ("GET", "/token-2"), ("POST", "/token-2/unlink"), ("GET", "/token-2/public-key"),
                ("POST", "/token-2/notify"),
            ] {
                let reply = try await server.curl(method, "/v1/merchant-tokens\(path)")
                #expect(reply.status == 403 && reply.string("code") == "forbidden", "\(path): \(reply.text)")
            }
            #expect(try await server.curl("GET", "/v1/merchants/\(added.other)/token-notification-urls").status == 403)
        }
    }

    @Test func `a token shows its last event and its card, and leaves absent fields out`() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            let event = try #require(MerchantTokenEventIdentifier(text: "event-1"))
            try await Self.store([added.merchant, added.merchant], in: server) { token in
                token.lastEvent = .init(
                    identifier: event, type: "UPDATED_METADATA", reason: "ISSUER", receivedAt: token.firstSeenAt)
                token.card = MerchantTokenCard(
                    fpanSuffix: "0492", cardArt: [.init(name: "front", type: "image/png", url: "https://c.example/f")])
                token.notificationURL = "https://pay.example.com/tokenapi"
            }
            let plain = try await server.curl("GET", "/v1/merchant-tokens/token-1").json()
            #expect(
                Set(plain.keys) == [
                    "merchantTokenIdentifier", "merchantIdentifier", "state", "firstSeenAt", "lastSeenAt",
                ])
            let full = try await server.curl("GET", "/v1/merchant-tokens/token-2").json()
            #expect((full["lastEvent"] as? [String: any Sendable])?["eventType"] as? String == "UPDATED_METADATA")
            let card = try #require(full["card"] as? [String: any Sendable])
            #expect(card["fpanSuffix"] as? String == "0492" && card["cardCountry"] == nil)
            #expect((card["cardArt"] as? [[String: any Sendable]])?.first?["url"] as? String == "https://c.example/f")
            #expect(full["notificationUrl"] as? String == "https://pay.example.com/tokenapi")
            let unknown = try await server.curl("GET", "/v1/merchant-tokens/token-3")
            #expect(unknown.status == 404 && unknown.string("code") == "merchantTokenNotFound")
            #expect(try await server.curl("GET", "/v1/merchant-tokens/a%20b").status == 400)
        }
    }

    @Test func `an unlink can be repeated, and its dry run does not call Apple`() async throws {
        let gateway = ScriptedMerchantTokenGateway()
        try await TestServer.run(merchantTokens: gateway) { server in
            let added = try await server.addTwoMerchants()
            try await Self.store([added.merchant], in: server)
            let path = "/v1/merchant-tokens/token-1/unlink"
            let dry = try await server.curl("POST", "\(path)?dryRun=true")
            #expect(dry.status == 200 && dry.string("state") == "linked" && gateway.calls.isEmpty, "\(dry.text)")
            for _ in 0..<2 {
                let done = try await server.curl("POST", path)
                #expect(done.status == 200 && done.string("state") == "unlinked", "\(done.text)")
            }
            #expect(gateway.calls.count == 1)
            #expect(try await server.curl("POST", path, "{}").status == 400, "a body")
            #expect(server.log.lines.filter { $0.contains("merchant token unlinked") }.count == 2)
            let late = try await server.curl("POST", "/v1/merchant-tokens/token-1/notify")
            #expect(late.status == 409 && late.string("code") == "merchantTokenStateConflict", "\(late.text)")
        }
    }

    @Test func `the URL, the request for the public key and the notification are passed on to Apple`() async throws {
        let gateway = ScriptedMerchantTokenGateway()
        try await TestServer.run(merchantTokens: gateway) { server in
            let added = try await server.addTwoMerchants()
            try await Self.store([added.merchant], in: server)
            let path = "/v1/merchant-tokens/token-1"
            let url = "https://pay.example.com/tokenapi"
            let set = try await server.curl("PUT", "\(path)/notification-url", #"{"notificationUrl": "\#(url)"}"#)
            #expect(set.status == 200 && set.string("notificationUrl") == url, "\(set.text)")
            for wrong in ["http://pay.example.com", "https://", String(repeating: "x", count: 300), ""] {
                let reply = try await server.curl(
                    "PUT", "\(path)/notification-url", #"{"notificationUrl": "\#(wrong)"}"#)
                #expect(reply.status == 400, "\(wrong): \(reply.text)")
            }
            let early = try await server.curl("GET", "\(path)/public-key")
            #expect(early.status == 409 && early.string("code") == "merchantTokenKeyNotReady", "\(early.text)")
            #expect(early.headers["retry-after"] == "15")
            gateway.publicKey = MerchantTokenPublicKey(x963: [4, 1, 2], ciphersuite: "HPKE_AUTH")
            let key = try await server.curl("GET", "\(path)/public-key")
            #expect(key.string("merchantTokenPublicKey") == "BAEC" && key.string("supportedCiphersuite") == "HPKE_AUTH")
            #expect(try await server.curl("POST", "\(path)/notify").status == 200)
            let token = try Self.identifier("token-1")
            #expect(
                gateway.calls == [
                    .setNotificationURL(url, token), .publicKey(token), .publicKey(token), .notify(token),
                ])
        }
    }

    @Test(
        arguments: [
            (.refused, 422, "gatewayRefused"), (.rateLimited, 429, "gatewayRateLimited"),
            (.unauthorized, 502, "gatewayUnauthorized"), (.failedAtApple, 502, "gatewayFailed"),
            (.unreachable, 503, "gatewayUnavailable"), (.identityUnusable, 503, "gatewayNotConfigured"),
            (.responseNotReceived, 504, "gatewayResponseNotReceived"), (.serverUntrusted, 502, "gatewayUntrusted"),
            (.notFound, 404, "merchantTokenNotFound"), (.conflict, 409, "merchantTokenStateConflict"),
        ] as [(GatewayError.Kind, Int, String)])
    func `each of Apple's failures has its status and code, and the token stays linked`(
        kind: GatewayError.Kind, status: Int, code: String
    ) async throws {
        try await TestServer.run(merchantTokens: ScriptedMerchantTokenGateway(fault: { _ in kind })) { server in
            let added = try await server.addTwoMerchants()
            try await Self.store([added.merchant], in: server)
            let path = "/v1/merchant-tokens/token-1"
            for (method, operation) in [("POST", "unlink"), ("GET", "public-key"), ("POST", "notify")] {
                let reply = try await server.curl(method, "\(path)/\(operation)")
                #expect(reply.status == status && reply.string("code") == code, "\(operation): \(reply.text)")
            }
            #expect(try await server.curl("GET", path).string("state") == "linked")
        }
    }

    @Test
    func `each notification URL has a new secret, and a repeat with the same Idempotency-Key returns the same URL`()
        async throws
    {
        try await TestServer.run(portalURL: { "https://pay.example.com" }) { server in
            let added = try await server.addTwoMerchants()
            let path = "/v1/merchants/\(added.merchant)/token-notification-urls"
            #expect(try Self.items(await server.curl("GET", path), "url").isEmpty)
            let key = ["Idempotency-Key: a-1"]
            let created = try await server.curl("POST", path, headers: key)
            let url = try #require(created.string("url"))
            #expect(
                created.status == 201
                    && url.wholeMatch(of: #/https://pay\.example\.com/tokenapi/[A-Za-z0-9]{32}/#) != nil)
            #expect(try await server.curl("POST", path, headers: key).string("url") == url)
            server.clock.advance(by: .seconds(1))
            let second = try #require(try await server.curl("POST", path).string("url"))
            #expect(second != url)
            #expect(try Self.items(await server.curl("GET", path), "url") == [second, url])
            #expect(
                try await server.curl("POST", "/v1/merchants/merchant.unknown/token-notification-urls").status == 404)
            let secret = String(url.suffix(32))
            #expect(!server.log.lines.contains { $0.contains(secret) })
        }
    }

    @Test func `without a portal there is no URL for notifications`() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            for method in ["GET", "POST"] {
                let reply = try await server.curl(method, "/v1/merchants/\(added.merchant)/token-notification-urls")
                #expect(reply.status == 409 && reply.string("code") == "portalNotConfigured", "\(reply.text)")
            }
        }
    }
}

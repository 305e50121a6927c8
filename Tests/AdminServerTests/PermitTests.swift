import AdminServer
import HTTPTypes
import MerchantCore
import MerchantTestSupport
import RESTKit
import Testing
import Vocabulary

@Suite struct PermitTests {
    /// The route's path with an existing merchant and key pair. Other parameters name nothing that exists.
    static func path(_ route: AdminRoute, _ added: TestServer.TwoMerchants) -> String {
        route.path.replacing("{merchantIdentifier}", with: added.merchant.rawValue)
            .replacing("{publicKeyHash}", with: added.key.base64URL)
            .replacing("{partnerInternalMerchantIdentifier}", with: "shop-1")
    }

    private static func check(
        policy: CallerPolicy, refused: @escaping @Sendable (AdminRoute) -> Bool
    ) async throws {
        try await TestServer.run(policy: policy) { server in
            let added = try await server.addTwoMerchants()
            let before = try await server.repository.read { try $0.counts(at: server.clock.now) }
            for route in AdminRoutes.all {
                let call = "\(route.method.rawValue) \(route.path)"
                let reply = try await server.curl(route.method.rawValue, path(route, added))
                if refused(route) {
                    #expect(reply.status == 403, "\(call)")
                    #expect(reply.string("code") == "forbidden", "\(call)")
                    #expect(reply.headers["content-type"] == "application/problem+json", "\(call)")
                } else {
                    #expect(reply.status != 403, "\(call)")
                }
            }
            guard AdminRoutes.all.allSatisfy({ $0.permit == nil || refused($0) }) else { return }
            let after = try await server.repository.read { try $0.counts(at: server.clock.now) }
            #expect(before == after, "a refused caller changed something")
        }
    }

    @Test("a caller without a rule is refused on every route that has a permit")
    func withoutRule() async throws {
        try await Self.check(policy: CallerPolicy(rules: [])) { $0.permit != nil }
    }

    @Test("each permit allows its own routes and no other", arguments: Permit.allCases)
    func one(_ permit: Permit) async throws {
        try await Self.check(policy: TestServer.policy([permit])) { $0.permit != nil && $0.permit != permit }
    }

    @Test("all permits except the route's own are not enough")
    func allButOne() async throws {
        for missing in [Permit.read, .administer] {
            try await Self.check(policy: TestServer.policy(Set(Permit.allCases).subtracting([missing]))) {
                $0.permit == missing
            }
        }
    }

    @Test("permits for one merchant allow requests about this merchant, and none about others or all merchants")
    func scoped() async throws {
        let granted = try #require(MerchantIdentifier("merchant.com.example.shop"))
        try await TestServer.run(policy: TestServer.policy([.read, .administer], merchants: [granted])) { server in
            let added = try await server.addTwoMerchants()
            let allowed: [(String, String, String?)] = [
                ("GET", "/v1/merchants/\(added.merchant)", nil),
                ("GET", "/v1/merchants/\(added.merchant)/keys", nil),
                ("POST", "/v1/merchants/\(added.merchant)/keys", ""),
                ("PATCH", "/v1/merchants/\(added.merchant)", "{}"),
                ("GET", "/v1/keys/\(added.key.base64URL)", nil),
                ("GET", "/v1/keys/\(added.key.hex)/csr", nil),
                ("POST", "/v1/keys/\(added.key.hex)/revoke", #"{"reason": "replaced"}"#),
                ("GET", "/v1/audit?merchant=\(added.merchant)", nil),
                ("GET", "/v1/events", nil), ("GET", "/v1/events?merchant=\(added.merchant)", nil),
                ("GET", "/v1/health", nil),
            ]
            for (method, path, body) in allowed {
                let reply = try await server.curl(method, path, body.map { .init($0.utf8) })
                #expect((200...201).contains(reply.status), "\(method) \(path) \(reply.text)")
            }
            let refused: [(String, String, String?)] = [
                ("GET", "/v1/merchants/\(added.other)", nil),
                ("DELETE", "/v1/merchants/\(added.other)", nil),
                ("POST", "/v1/merchants", #"{"merchantIdentifier": "merchant.com.example.third"}"#),
                ("POST", "/v1/merchants/\(added.other)/keys", ""),
                ("POST", "/v1/merchants/\(added.other)/certificates", "x"),
                ("POST", "/v1/certificates", "x"),
                ("GET", "/v1/keys/\(added.otherKey.base64URL)", nil),
                ("POST", "/v1/keys/\(added.otherKey.hex)/revoke", #"{"reason": "no"}"#),
                ("GET", "/v1/keys?prefix=\(added.key.hex.prefix(8))", nil),
                ("GET", "/v1/registrations", nil), ("GET", "/v1/registrations/shop-1", nil),
                ("POST", "/v1/registrations", "{}"), ("DELETE", "/v1/registrations/shop-1", "{}"),
                ("POST", "/v1/registrations/sync", ""), ("PUT", "/v1/domain-file", "x"),
                ("GET", "/v1/status", nil), ("GET", "/metrics", nil), ("GET", "/v1/audit", nil),
                ("GET", "/v1/audit?merchant=\(added.other)", nil),
                ("GET", "/v1/audit?key=\(added.key.hex)", nil), ("GET", "/v1/keys?state=pending", nil),
                ("GET", "/v1/events?merchant=\(added.other)", nil), ("POST", "/v1/events/redeliver", nil),
                ("POST", "/v1/keys/import", #"{"privateKey": "AAAA"}"#), ("GET", "/v1/webhooks", nil),
                ("POST", "/v1/webhooks/test", #"{"webhook": "ops"}"#), ("GET", "/v1/nodes", nil),
                ("DELETE", "/v1/nodes/host1", nil),
            ]
            for (method, path, body) in refused {
                let reply = try await server.curl(method, path, body.map { .init($0.utf8) })
                #expect(reply.status == 403, "\(method) \(path) \(reply.text)")
            }
            try await server.repository.write { transaction in
                for merchant in [added.merchant, added.other] {
                    try transaction.append(
                        Event(.belowTarget, .notice, at: server.clock.now, merchant: merchant, detail: "of \(merchant)")
                    )
                }
                try transaction.append(Event(.rollWaiting, .notice, at: server.clock.now, detail: "of no merchant"))
            }
            let events = try await server.curl("GET", "/v1/events?newest=true").text
            #expect(events.contains("of \(added.merchant)") && events.contains("keyRevoked"))
            #expect(!events.contains("of \(added.other)") && !events.contains("of no merchant"))
            let list = try await server.curl("GET", "/v1/merchants")
            #expect(list.text.contains(added.merchant.rawValue))
            #expect(!list.text.contains(added.other.rawValue))
        }
    }

    @Test("the log names a refused caller and the route")
    func logged() async throws {
        try await TestServer.run(policy: CallerPolicy(rules: [])) { server in
            _ = try await server.curl("GET", "/v1/status")
            let line = try #require(server.log.lines.first { $0.contains("request forbidden") })
            #expect(line.contains("code=forbidden") && line.contains("route=GET /v1/status"))
            #expect(line.contains("program=") && line.contains("/curl"))
        }
    }
}

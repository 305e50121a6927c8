import Foundation
import MerchantCore
import MerchantTestSupport
import Synchronization
import Testing
import Vocabulary
import WireAPI

@Suite("Registrations over HTTP") struct RegistrationTests {
    private static func body(_ partner: String, _ domains: [String]) throws -> Data {
        try JSONSerialization.data(withJSONObject: [
            "partnerInternalMerchantIdentifier": partner, "partnerMerchantName": "Shop", "domainNames": domains,
            "encryptTo": "merchant.com.example",
        ])
    }

    @Test(
        "an identifier in Apple's alphabet is accepted in a path, which is decoded exactly once",
        arguments: ["~-_+&@$!|,.;", "...", "a+b", "sync", "Shop", String(repeating: "|$", count: 512)])
    func identifiers(_ name: String) async throws {
        try await TestServer.run { server in
            let partner = try #require(PartnerInternalMerchantIdentifier(name))
            let created = try await server.curl("POST", "/v1/registrations", Self.body(name, ["a.example"]))
            #expect(created.status == 201, "\(created.text)")
            let location = try #require(created.headers["location"])
            #expect(location == Paths.registration(partner))
            let found = try await server.curl("GET", "\(location)?refresh=true")
            #expect(found.status == 200 && found.string("partnerInternalMerchantIdentifier") == name, "\(found.text)")
            #expect(found.string("source") == "apple")
            let gone = try await server.curl("DELETE", location, Data(#"{"reason": "closed"}"#.utf8))
            #expect(gone.status == 200, "\(gone.text)")
            #expect(server.gateway.records.isEmpty)
        }
    }

    @Test("a registration whose identifier is also a segment of another route's path is found and removed")
    func identifierOfARoute() async throws {
        try await TestServer.run { server in
            #expect(try await server.curl("POST", "/v1/registrations", Self.body("sync", ["a.example"])).status == 201)
            let found = try await server.curl("GET", "/v1/registrations/sync")
            #expect(found.string("partnerInternalMerchantIdentifier") == "sync", "\(found.text)")
            let removed = try await server.curl("DELETE", "/v1/registrations/sync", Data(#"{"reason": "closed"}"#.utf8))
            #expect(removed.status == 200, "\(removed.text)")
        }
    }

    @Test("an identifier that is encoded twice or invalid is refused")
    func badIdentifiers() async throws {
        try await TestServer.run { server in
            for path in ["a%257Cb", "ab", "a%2Fb", "a%20b", "a%0Ab", String(repeating: "x", count: 1025)] {
                let reply = try await server.curl("GET", "/v1/registrations/\(path)")
                #expect(reply.status == 400 && reply.text.contains("expected 3 to 1024"), "\(path): \(reply.text)")
            }
            #expect(server.gateway.calls.isEmpty)
        }
    }

    @Test("domains are accepted in Unicode or ASCII, and an invalid name is refused without a call to Apple")
    func domains() async throws {
        try await TestServer.run { server in
            let created = try await server.curl("POST", "/v1/registrations", Self.body("shop-1", ["BÜCHER.example"]))
            #expect(try created.json()["domainNames"] as? [String] == ["xn--bcher-kva.example"])
            let before = server.gateway.calls.count
            let bad: [(Int, [String], String)] = [
                (400, ["https://shop.example.com/"], "https://shop.example.com/"), (400, ["shop"], "'shop'"),
                (400, ["192.0.2.1"], "192.0.2.1"), (400, ["x.example", "X.EXAMPLE"], "twice"),
                (400, ["bücher.example", "xn--bcher-kva.example"], "twice"), (400, [], "empty"),
                (409, (0..<99).map { "d\($0).example" }, "would have 100"),
                (409, (0..<100).map { "d\($0).example" }, "100 names"),
            ]
            for (status, names, words) in bad {
                let reply = try await server.curl("POST", "/v1/registrations", Self.body("shop-1", names))
                #expect(reply.status == status && reply.string("detail")?.contains(words) == true, "\(reply.text)")
            }
            #expect(server.gateway.calls.count == before)
        }
    }

    @Test(
        "each of Apple's failures has its status, code and Retry-After",
        arguments: [
            (ScriptedGateway.Fault.refused, 422, "gatewayRefused"), (.unauthorized, 502, "gatewayUnauthorized"),
            (.rateLimited, 429, "gatewayRateLimited"), (.unreachable, 503, "gatewayUnavailable"),
            (.serverUntrusted, 502, "gatewayUntrusted"), (.identityUnusable, 503, "gatewayNotConfigured"),
            (.resetBeforeActing, 504, "gatewayResponseNotReceived"), (.circuitOpen, 503, "gatewayUnavailable"),
        ])
    func failures(_ fault: ScriptedGateway.Fault, _ status: Int, _ code: String) async throws {
        let gateway = ScriptedGateway { call in if case .register = call { fault } else { nil } }
        try await TestServer.run(gateway: gateway) { server in
            let reply = try await server.curl("POST", "/v1/registrations", Self.body("shop-1", ["a.example"]))
            #expect(reply.status == status && reply.string("code") == code, "\(reply.text)")
            let retry: [ScriptedGateway.Fault: String] = [
                .rateLimited: "7", .circuitOpen: "3", .unreachable: "15", .resetBeforeActing: "120",
            ]
            #expect(reply.headers["retry-after"] == retry[fault])
        }
    }

    @Test("a dry run, a removal and a sync report what they do")
    func story() async throws {
        try await TestServer.run { server in
            _ = try await server.curl("POST", "/v1/registrations", Self.body("shop-1", ["a.example", "b.example"]))
            let body = Data(#"{"domainNames": ["A.example"], "reason": "moved"}"#.utf8)
            let dry = try await server.curl("DELETE", "/v1/registrations/shop-1?dryRun=true", body)
            #expect(try dry.json()["dryRun"] as? Bool == true && server.gateway.changes.count == 1)
            let done = try await server.curl("DELETE", "/v1/registrations/shop-1", body)
            #expect(try done.json()["domainNames"] as? [String] == ["a.example"])
            let unnamed = try await server.curl("DELETE", "/v1/registrations/shop-1", Data("{}".utf8))
            #expect(unnamed.status == 400 && unnamed.text.contains("'reason' is missing"))
            server.gateway.records = [:]
            let sync = try await server.curl("POST", "/v1/registrations/sync")
            #expect(sync.text.contains(#""drift":[{"kind":"gone"}]"#), "\(sync.text)")
            let repaired = try await server.curl("POST", "/v1/registrations/sync", Data(#"{"repair": true}"#.utf8))
            #expect(repaired.text.contains(#""repaired":true"#), "\(repaired.text)")
            #expect(server.gateway.records.count == 1)
            let limits = try await server.curl("POST", "/v1/registrations/sync", Data(#"{"limit": 1001}"#.utf8))
            #expect(limits.status == 400)
        }
    }

    @Test("the domain file is served without a permit, byte for byte, and is 404 until it is set")
    func domainFile() async throws {
        let bytes = Data((0..<9000).map { UInt8(truncatingIfNeeded: $0) })
        let path = Paths.wellKnownDomainFile
        try await TestServer.run { server in
            let none = try await server.curl("GET", path)
            #expect(none.status == 404 && none.string("code") == "domainFileNotSet")
            #expect(try await server.curl("PUT", "/v1/domain-file", Data()).status == 400)
            #expect(try await server.curl("PUT", "/v1/domain-file", Data(count: 65_537)).status == 413)
            let stored = try await server.curl("PUT", "/v1/domain-file", bytes)
            #expect(stored.status == 200 && stored.headers["location"] == nil)
            let served = try await server.curl("GET", path)
            #expect(served.status == 200 && served.body == bytes)
            #expect(served.headers["content-type"] == "text/plain")
            #expect(try await server.curl("HEAD", path).headers["content-length"] == "9000")
        }
    }

    /// Finds status 404 on every domain, and records the calls.
    private final class Checker: DomainChecker {
        let asked = Mutex<[(DomainName, [UInt8])]>([])
        func check(_ domain: DomainName, expecting file: [UInt8]) async -> DomainCheckReport {
            asked.withLock { $0.append((domain, file)) }
            return DomainCheckReport(
                domain: domain, url: "https://\(domain)/", address: "192.0.2.1", finding: .wrongStatus(404))
        }
    }

    @Test("a domain check needs the domain file, and reports what it finds")
    func domainCheck() async throws {
        let checker = Checker()
        try await TestServer.run(domainChecker: checker) { server in
            let body = Data(#"{"domainName": "Bücher.example"}"#.utf8)
            #expect(try await server.curl("POST", "/v1/domain-checks", body).status == 404)
            _ = try await server.curl("PUT", "/v1/domain-file", Data([1, 2]))
            let reply = try await server.curl("POST", "/v1/domain-checks", body)
            #expect(
                reply.text
                    == #"{"address":"192.0.2.1","domainName":"xn--bcher-kva.example","findings":[{"detail":"found status 404, expected 200","kind":"wrongStatus"}],"passed":false}"#
            )
            #expect(checker.asked.withLock { $0.map(\.1) } == [[1, 2]])
            let bad = try await server.curl("POST", "/v1/domain-checks", Data(#"{"domainName": "http://x"}"#.utf8))
            #expect(bad.status == 400)
        }
    }
}

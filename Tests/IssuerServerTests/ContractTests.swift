import HTTPTypes
import IssuerServer
import MerchantCore
import MerchantTestSupport
import RESTKit
import Testing
import Vocabulary

/// Compares the issuer socket with `schema/openapi.yaml`.
@Suite struct ContractTests {
    @Test func `the routes are those of the contract, with their permits, effects and query parameters`() throws {
        let documented = try OpenAPIDocument().operations(of: "issuer")
        #expect(Set(documented.keys) == Set(IssuerRoutes.all.map { "\($0.method.rawValue) \($0.path)" }))
        for route in IssuerRoutes.all {
            let operation = documented["\(route.method.rawValue) \(route.path)"]
            #expect(operation?.permit == route.permit?.rawValue ?? "none", "\(route.path)")
            #expect(operation?.query == route.query, "\(route.path)")
            #expect(operation?.effect == route.effect.rawValue, "\(route.path)")
        }
    }

    @Test func `health and the contract need no permit`() async throws {
        try await TestIssuer(callers: CallerPolicy(rules: [])).run { issuer in
            let health = try await issuer.curl("GET", "/v1/health")
            #expect(health.status == 200 && health.json["ready"] as? Bool == true)
            let contract = try await issuer.curl("GET", "/v1/openapi.yaml")
            #expect(contract.status == 200 && Array(contract.text.utf8) == TestIssuer.openAPI)
        }
        try await TestIssuer().run(ready: false) { issuer in
            let health = try await issuer.curl("GET", "/v1/health")
            #expect(health.status == 503)
        }
    }

    @Test func `the routes of other sockets get 404`() async throws {
        try await TestIssuer().run { issuer in
            for path in ["/v1/status", "/v1/merchants", "/v1/keys/\(String(repeating: "A", count: 43))", "/metrics"] {
                let reply = try await issuer.curl("GET", path)
                #expect(reply.status == 404 && reply.code == "notFound", "\(path)")
                let namesAdmin = reply.string("detail")?.contains("sockets.admin.path") == true
                #expect(namesAdmin == path.hasPrefix("/v1/"), "\(path)")
            }
        }
    }

    @Test(
        "only the permit provision for every merchant allows to encrypt card data",
        arguments: Permit.allCases.map { Set([$0]) } + [Set(Permit.allCases).subtracting([.provision]), []])
    func permits(permits: Set<Permit>) async throws {
        try await TestIssuer(callers: TestIssuer.callers(permits)).run { issuer in
            let reply = try await issuer.encrypt(issuer.body())
            #expect(reply.status == (permits == [.provision] ? 200 : 403), "\(reply.text)")
            #expect(issuer.nonces.count == (permits == [.provision] ? 1 : 0))
        }
    }

    @Test func `a permit for some merchants is not enough`() async throws {
        let merchant = try #require(MerchantIdentifier("merchant.com.example.shop"))
        try await TestIssuer(callers: TestIssuer.callers([.provision], merchants: [merchant])).run { issuer in
            let reply = try await issuer.encrypt(issuer.body())
            #expect(reply.status == 403 && reply.code == "forbidden")
        }
    }
}

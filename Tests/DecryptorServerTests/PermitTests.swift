import Crypto
import DecryptorServer
import FoundationEssentials
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import NIOHTTP1
import Testing
import Vocabulary

@Suite("Permits")
struct PermitTests {
    let server = DecryptorTestServer()

    @Test("The routes are those of schema/openapi.yaml, with their permits and query parameters")
    func table() throws {
        let contract = try OpenAPIDocument().operations(of: "decryptor")
        #expect(
            contract.keys.sorted() == DecryptorRoute.table.map { "\($0.method.rawValue) \($0.path)" }.sorted())
        for route in DecryptorRoute.table {
            let operation = contract["\(route.method.rawValue) \(route.path)"]
            let documentedAs =
                switch route.permit {
                case .permit(let permit): permit.rawValue
                case .any: "any"
                }
            #expect(operation?.permit == documentedAs, "\(route.path)")
            #expect(operation?.query == route.queryParameters, "\(route.path)")
        }
        #expect(Set(DecryptorRoute.table.map(\.endpoint)) == Set(DecryptorRoute.Endpoint.allCases))
        // The literal permits make this test fail even if the table and the document change together.
        let expected: [String: RoutePermit] = [
            "GET /v1/keys/{publicKeyHash}": .permit(.resolve),
            "POST /v1/keys/{publicKeyHash}/symmetric-key": .permit(.symmetricKey),
            "POST /v1/payment-tokens/verify": .permit(.decrypt),
            "POST /v1/payment-tokens/decrypt": .permit(.decrypt),
            "GET /v1/merchant-tokens/{merchantTokenIdentifier}/mpan": .permit(.decrypt),
            "POST /v1/merchant-sessions": .permit(.merchantSession),
            "GET /v1/health": .any,
            "GET /v1/openapi.yaml": .any,
        ]
        let found = DecryptorRoute.table.map { ("\($0.method.rawValue) \($0.path)", $0.permit) }
        #expect(Dictionary(uniqueKeysWithValues: found) == expected)
    }

    /// The route's path with values of its parameters.
    private func path(of route: DecryptorRoute) -> String {
        route.path.replacing("{publicKeyHash}", with: server.addKey().base64URL)
            .replacing("{merchantTokenIdentifier}", with: "DAPLMC0001")
    }

    @Test("Without its permit each route is 403 and names the permit", arguments: DecryptorRoute.table)
    func withoutPermit(route: DecryptorRoute) async throws {
        let path = path(of: route)
        let body = route.method == .POST ? "{}" : nil
        let others: Set<Permit> =
            switch route.permit {
            case .permit(let permit): Set(Permit.allCases).subtracting([permit])
            case .any: []
            }
        try await server.serve(policy: DecryptorTestServer.policy(others)) { _ in
            let reply = try await server.ask(route.method.rawValue, path, body)
            #expect(reply.status == 403)
            if case .permit(let permit) = route.permit { #expect(reply.text.contains("'\(permit.rawValue)'")) }
        }
    }

    @Test("A caller without a rule gets 403 for each route", arguments: DecryptorRoute.table)
    func withoutRule(route: DecryptorRoute) async throws {
        let path = path(of: route)
        let policy = CallerPolicy(rules: [
            .init(subject: .uid(4_000_000_000), grant: Grant(permits: Set(Permit.allCases), merchants: nil))
        ])
        try await server.serve(policy: policy) { _ in
            let reply = try await server.ask(route.method.rawValue, path, route.method == .POST ? "{}" : nil)
            #expect(reply.status == 403)
        }
    }

    @Test("A private key is not exported without exportPrivateKey, whatever else is granted")
    func exportPermit() async throws {
        let hash = server.addKey()
        let policy = DecryptorTestServer.policy(Set(Permit.allCases).subtracting([.exportPrivateKey]))
        try await server.serve(policy: policy) { _ in
            let reply = try await server.ask("GET", "/v1/keys/\(hash.base64URL)?include=privateKey")
            #expect(reply.status == 403)
            #expect(reply.text.contains("'exportPrivateKey'"))
            #expect(!reply.text.contains("PRIVATE KEY"))
        }
        #expect(server.store.audit.isEmpty)
    }

    @Test("A permit for some merchants allows only their keys, in the cache or not")
    func scope() async throws {
        let key = P256.KeyAgreement.PrivateKey()
        let mine = server.addKey()
        let other = server.addKey(of: DecryptorTestServer.otherMerchant, key: key)
        let token = try MintedToken(to: key.publicKey, of: DecryptorTestServer.otherMerchant)
        let ephemeral = P256.KeyAgreement.PrivateKey().publicKey.derRepresentation.base64EncodedString()
        try await server.serve(policy: DecryptorTestServer.policy(merchants: [DecryptorTestServer.merchant])) { _ in
            for _ in 0..<2 {
                #expect(try await server.ask("GET", "/v1/keys/\(mine.base64URL)").status == 200)
                #expect(try await server.ask("GET", "/v1/keys/\(other.base64URL)").status == 403)
            }
            let statuses = try await server.client { client in
                [
                    try client.ask("GET", "/v1/keys/\(other.base64URL)?include=privateKey"),
                    try client.ask(
                        "POST", "/v1/keys/\(other.base64URL)/symmetric-key", #"{"ephemeralPublicKey":"\#(ephemeral)"}"#),
                    try client.ask("POST", "/v1/payment-tokens/decrypt", token.request()),
                ].map(\.status)
            }
            #expect(statuses == [403, 403, 403])
            let unknown = PublicKeyHash(of: [1])
            #expect(try await server.ask("GET", "/v1/keys/\(unknown.base64URL)").status == 404)
        }
        #expect(server.store.audit.isEmpty)
    }

    @Test(
        "A request without a permit for the merchant counts as no use, and its response does not show the state",
        arguments: KeyState.allCases
    )
    func foreignKey(state: KeyState) async throws {
        let key = P256.KeyAgreement.PrivateKey()
        let hash = server.addKey(state, of: DecryptorTestServer.otherMerchant, key: key)
        let token = try MintedToken(to: key.publicKey, of: DecryptorTestServer.otherMerchant).request("")
        let ephemeral = P256.KeyAgreement.PrivateKey().publicKey.derRepresentation.base64EncodedString()
        let sendRequests: @Sendable (SocketClient) throws -> [Int] = { client in
            [
                try client.ask("GET", "/v1/keys/\(hash.base64URL)"),
                try client.ask("GET", "/v1/keys/\(hash.base64URL)?include=privateKey"),
                try client.ask(
                    "POST", "/v1/keys/\(hash.base64URL)/symmetric-key", #"{"ephemeralPublicKey":"\#(ephemeral)"}"#),
                try client.ask("POST", "/v1/payment-tokens/decrypt", token),
            ].map(\.status)
        }
        let caller = Caller(uid: 0, gid: 0, pid: 0, program: "test")
        try await server.serve(policy: DecryptorTestServer.policy(merchants: [DecryptorTestServer.merchant])) { _ in
            let statuses = try await server.client(sendRequests)
            #expect(statuses == [403, 403, 403, 403])
            #expect(try await server.operations.keyUses.storeUses(as: caller) == 0)
        }
        guard state.isActive else { return }
        // The same where the response is cached.
        try await server.serve { _ in _ = try await server.ask("GET", "/v1/keys/\(hash.base64URL)") }
        #expect(try await server.operations.keyUses.storeUses(as: caller) == 1)
        try await server.serve(policy: DecryptorTestServer.policy(merchants: [DecryptorTestServer.merchant])) { _ in
            let statuses = try await server.client(sendRequests)
            #expect(statuses == [403, 403, 403, 403])
        }
        #expect(try await server.operations.keyUses.storeUses(as: caller) == 0)
    }

    @Test(
        "An unverified decrypt and a given time of receipt need permits of their own",
        arguments: [
            (Permit.decryptUnverified, #","verify":false"#),
            (Permit.judgeAtOtherTime, #","verify":false,"receivedAt":"2026-01-01T00:00:00Z""#),
        ])
    func decryptPermits(permit: Permit, fields: String) async throws {
        let key = P256.KeyAgreement.PrivateKey()
        server.addKey(key: key)
        let request = try MintedToken(to: key.publicKey).request(fields)
        try await server.serve(policy: DecryptorTestServer.policy(Set(Permit.allCases).subtracting([permit]))) { _ in
            let reply = try await server.ask("POST", "/v1/payment-tokens/decrypt", request)
            #expect(reply.status == 403)
            #expect(reply.text.contains("'\(permit.rawValue)'"))
        }
        #expect(server.store.audit.isEmpty)
    }
}

extension MintedToken {
    fileprivate func request(_ more: String) -> String {
        request(expected: #"{"merchantIdentifier":"any"}"#, more)
    }
}

import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Synchronization
import Testing
import Vocabulary

@Suite struct MPANTests {
    private static let mpan = "5204240250000002"
    private let server: DecryptorTestServer

    init() {
        var policy = MerchantTokenPolicy()
        policy.storesMPANs = true
        server = DecryptorTestServer(merchantTokens: policy)
    }

    private static func path(_ token: String) -> String { "/v1/merchant-tokens/\(token)/mpan" }

    /// Stores a linked merchant token, with or without an account number.
    private func add(_ token: String, of merchant: MerchantIdentifier, mpan: String? = Self.mpan) throws {
        let identifier = try #require(MerchantTokenIdentifier(text: token))
        let now = server.clock.now
        try server.store.memory.change { transaction in
            if transaction.merchant(merchant) == nil {
                try transaction.insert(Merchant(identifier: merchant, name: nil, createdAt: now))
            }
            try transaction.store(
                MerchantToken(
                    identifier: identifier, merchantIdentifier: merchant, firstSeenAt: now, lastSeenAt: now))
            guard let mpan else { return }
            let sealed = Array(mpan.utf8).withUnsafeBytes {
                FakeMPANCustodian().sealMPAN($0, of: SealedMPAN.Owner(identifier, of: merchant))
            }
            try transaction.store(StoredMPAN(sealed: sealed, receivedAt: now))
        }
    }

    @Test func `the account number reaches a caller with the permit decrypt, and no cache may store it`() async throws {
        try add("a.b~c", of: DecryptorTestServer.merchant)
        try await server.serve(
            policy: DecryptorTestServer.policy([.decrypt], merchants: [DecryptorTestServer.merchant])
        ) { _ in
            for token in ["a.b~c", "a%2Eb~c"] {
                let reply = try await server.ask("GET", Self.path(token))
                #expect(reply.status == 200 && reply.fields["cache-control"] == "no-store")
                #expect(reply.text.hasSuffix(#"{"merchantTokenIdentifier":"a.b~c","mpan":"\#(Self.mpan)"}"#))
                #expect(reply.fields["x-request-id"] != nil)
            }
        }
        let audit = server.store.audit.filter { $0.action == .mpanRead }
        #expect(audit.map(\.reason) == ["merchantTokenIdentifier=a.b~c", "merchantTokenIdentifier=a.b~c"])
        #expect(audit.allSatisfy { $0.merchantIdentifier == DecryptorTestServer.merchant })
    }

    @Test func `each refusal has its code, and is not recorded as a read`() async throws {
        try add("mine", of: DecryptorTestServer.merchant)
        try add("without", of: DecryptorTestServer.merchant, mpan: nil)
        try add("other", of: DecryptorTestServer.otherMerchant)
        try await server.serve(
            policy: DecryptorTestServer.policy([.decrypt], merchants: [DecryptorTestServer.merchant])
        ) { _ in
            for (token, status, code) in [
                ("unknown", 404, "merchantTokenNotFound"), ("without", 404, "mpanNotStored"),
                ("other", 403, "forbidden"), ("a%2Fb", 400, "malformed"), ("%zz", 400, "malformed"),
            ] {
                let reply = try await server.ask("GET", Self.path(token))
                #expect(reply.status == status && reply.text.contains(code), "\(token): \(reply.text)")
            }
            let posted = try await server.ask("POST", Self.path("mine"), "{}")
            #expect(posted.status == 405)
        }
        try await server.serve(policy: DecryptorTestServer.policy([.resolve, .symmetricKey, .merchantSession])) { _ in
            let reply = try await server.ask("GET", Self.path("mine"))
            #expect(reply.status == 403)
        }
        #expect(!server.store.audit.contains { $0.action == .mpanRead })
    }

    @Test func `without its audit record no account number is sent`() async throws {
        try add("mine", of: DecryptorTestServer.merchant)
        server.store.failure.withLock { $0 = MerchantError(.storeUnavailable, "the disk is full") }
        try await server.serve { _ in
            let reply = try await server.ask("GET", Self.path("mine"))
            #expect(reply.status == 503 && !reply.text.contains(Self.mpan))
        }
    }
}

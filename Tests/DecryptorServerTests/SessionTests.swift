import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct SessionTests {
    private static let path = "/v1/merchant-sessions"
    private let server = DecryptorTestServer()

    private static func body(_ merchant: String, domain: String = "shop.example.com", _ more: String = "") -> String {
        #"{\#(merchant),"displayName":"Shop","initiative":"web","initiativeContext":"\#(domain)"\#(more)}"#
    }

    private static func registered(_ partner: String) -> String {
        body(#""partnerInternalMerchantIdentifier":"\#(partner)""#)
    }

    private static func own(_ merchant: MerchantIdentifier) -> String {
        body(#""merchantIdentifier":"\#(merchant)""#)
    }

    private func addRegistration(_ partner: String, of merchant: MerchantIdentifier?) throws {
        let partner = try #require(PartnerInternalMerchantIdentifier(text: partner))
        let domain = try #require(DomainName(text: "shop.example.com"))
        let now = server.clock.now
        try server.store.memory.change { transaction in
            try transaction.insert(
                Registration(
                    partnerInternalMerchantIdentifier: partner,
                    desired: DesiredRegistration(
                        partnerMerchantName: "Shop", domainNames: [domain], encryptTo: DecryptorTestServer.merchant,
                        merchantUrl: nil),
                    merchantIdentifier: merchant, appleRecord: nil, createdAt: now, changedAt: now))
        }
    }

    @Test func `the bytes of Apple's session reach the caller unchanged, and no cache may store them`() async throws {
        try addRegistration("shop-1", of: nil)
        server.addKey(purpose: .identity, algorithm: .rsaV1)
        try await server.serve { _ in
            for body in [Self.registered("shop-1"), Self.own(DecryptorTestServer.merchant)] {
                let reply = try await server.ask("POST", Self.path, body)
                #expect(reply.status == 200)
                #expect(reply.body == RecordingSessionGateway.session)
                #expect(reply.fields["content-type"] == "application/json")
                #expect(reply.fields["cache-control"] == "no-store")
                #expect(reply.fields["x-request-id"] != nil)
            }
        }
        #expect(server.sessionGateway.calls.map(\.owner) == [.platform, .merchant(DecryptorTestServer.merchant)])
        #expect(server.store.audit.isEmpty)
    }

    @Test func `a permit for one merchant covers the merchant and its registrations only`() async throws {
        try addRegistration("mine", of: DecryptorTestServer.merchant)
        try addRegistration("other", of: DecryptorTestServer.otherMerchant)
        try addRegistration("of-nobody", of: nil)
        server.addKey(purpose: .identity, algorithm: .rsaV1)
        let policy = DecryptorTestServer.policy([.merchantSession], merchants: [DecryptorTestServer.merchant])
        try await server.serve(policy: policy) { _ in
            #expect(try await server.ask("POST", Self.path, Self.registered("mine")).status == 200)
            #expect(try await server.ask("POST", Self.path, Self.own(DecryptorTestServer.merchant)).status == 200)
            for body in [
                Self.registered("other"), Self.registered("of-nobody"), Self.own(DecryptorTestServer.otherMerchant),
                Self.own(DecryptorTestServer.identifier("merchant.com.example.unknown")),
            ] {
                let reply = try await server.ask("POST", Self.path, body)
                #expect(reply.status == 403 && reply.text.contains("forbidden"), "\(body)")
            }
            #expect(try await server.ask("POST", Self.path, Self.registered("unknown")).status == 404)
        }
        #expect(server.sessionGateway.calls.count == 2)
    }

    @Test(
        "each refusal has its status and code",
        arguments: [
            (registered("unknown"), 404, "registrationNotFound"),
            (own(DecryptorTestServer.otherMerchant), 404, "merchantNotFound"),
            (own(DecryptorTestServer.merchant), 409, "sessionIdentityMissing"),
            (body(#""merchantIdentifier":"platformintegrator.com.example""#), 422, "sessionMerchantWrongKind"),
            (
                body(#""partnerInternalMerchantIdentifier":"shop-1""#, domain: "www.shop.example.com"), 422,
                "sessionDomainNotRegistered"
            ),
            (
                body(
                    #""partnerInternalMerchantIdentifier":"shop-1""#,
                    #","validationURL":"https://attacker.example/paymentservices/paymentSession""#), 422,
                "validationURLRefused"
            ), (body(#""merchantIdentifier":"shop""#), 400, "malformed"), ("{}", 400, "malformed"),
            (body(#""partnerInternalMerchantIdentifier":"shop-1""#, #","extra":1"#), 400, "malformed"),
            (body(#""partnerInternalMerchantIdentifier":"shop-1""#, #","validationURL":null"#), 400, "malformed"),
        ])
    func refusal(body: String, status: Int, code: String) async throws {
        try addRegistration("shop-1", of: DecryptorTestServer.merchant)
        server.addKey()
        try await server.serve { _ in
            let reply = try await server.ask("POST", Self.path, body)
            #expect(reply.status == status && reply.text.contains(#""code":"\#(code)""#), "\(reply.text)")
        }
        #expect(server.sessionGateway.calls.isEmpty)
    }

    @Test func `a refusal of Apple's reaches the caller with its code`() async throws {
        try addRegistration("shop-1", of: nil)
        server.sessionGateway.error = GatewayError(
            .rateLimited, "Apple limits the rate of requests", status: 429, retryAfter: 9, mayHaveActed: false)
        try await server.serve { _ in
            let reply = try await server.ask("POST", Self.path, Self.registered("shop-1"))
            #expect(reply.status == 429 && reply.text.contains("gatewayRateLimited"))
            #expect(reply.fields["retry-after"] == "9")
        }
    }
}

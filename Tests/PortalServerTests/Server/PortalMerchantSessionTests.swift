import FoundationEssentials
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

/// `POST /v1/merchant-sessions` on the portal.
@Suite struct PortalMerchantSessionTests {
    private static let path = "/v1/merchant-sessions"
    private let gateway = RecordingSessionGateway()

    private func withPortal(_ body: @escaping @Sendable (ServerFixture) async throws -> Void) async throws {
        let ports = SessionOperations.Ports(
            gateway: gateway,
            policy: CurrentValue(SessionPolicy(validationHosts: SessionHost.appleHosts(.sandbox))))
        try await ServerFixture.run(sessions: ports) { portal in
            try await register("mine", of: ServerFixture.merchant, portal)
            try await register("of-nobody", of: nil, portal)
            try await body(portal)
        }
    }

    private func register(
        _ partner: String, of merchant: MerchantIdentifier?, _ portal: ServerFixture
    ) async throws {
        let now = portal.clock.now
        let domain = try #require(DomainName(text: "shop.example.com"))
        let registration = Registration(
            partnerInternalMerchantIdentifier: try #require(PartnerInternalMerchantIdentifier(text: partner)),
            desired: DesiredRegistration(
                partnerMerchantName: "Shop", domainNames: [domain], encryptTo: ServerFixture.merchant, merchantUrl: nil),
            merchantIdentifier: merchant, appleRecord: nil, createdAt: now, changedAt: now)
        _ = try await portal.repository.write { try $0.insert(registration) }
    }

    /// - Returns: the header field with a new access token.
    private func token(
        _ name: String, _ permits: Set<Permit>, of merchant: MerchantIdentifier?, _ portal: ServerFixture
    ) async throws -> String {
        let (_, token) = try await portal.operations.access.create(
            try #require(AccessName(text: name)), permits: permits, merchants: merchant.map { [$0] }, expiresAt: nil,
            clientCertificate: nil, for: ServerFixture.request)
        return "Authorization: Bearer \(try #require(token).text)"
    }

    private static func body(_ merchant: String) -> [String] {
        [
            "--header", "Content-Type: application/json", "--data",
            #"{\#(merchant),"displayName":"Shop","initiative":"web","initiativeContext":"shop.example.com"}"#,
        ]
    }

    private static func registered(_ partner: String) -> [String] {
        body(#""partnerInternalMerchantIdentifier":"\#(partner)""#)
    }

    /// The code of a problem document.
    private static func code(_ reply: ServerFixture.Reply) -> String? {
        reply.body.firstMatch(of: /"code":"([A-Za-z]+)"/).map { String($0.1) }
    }

    @Test func `the bytes of Apple's session reach the caller unchanged, and no cache may store them`() async throws {
        try await withPortal { portal in
            let token = try await token(
                "checkout", [.merchantSession], of: ServerFixture.merchant, portal)
            let reply = try await portal.curl(Self.path, headers: [token], Self.registered("mine"))
            #expect(reply.status == "200" && reply.contentType == "application/json")
            #expect(Array(reply.body.utf8) == RecordingSessionGateway.session)
            let head = try await portal.curl(
                Self.path, headers: [token], Self.registered("mine") + ["--dump-header", "-", "--output", "/dev/null"])
            #expect(head.body.lowercased().contains("cache-control: no-store"))
        }
        #expect(gateway.calls.map(\.request.merchantIdentifier) == ["mine", "mine"])
    }

    @Test func `a caller with the permit for one merchant does not learn whether others exist`() async throws {
        try await withPortal { portal in
            let mine = try await token("mine", [.merchantSession], of: ServerFixture.merchant, portal)
            let all = try await token("all", [.merchantSession], of: nil, portal)
            for partner in ["of-nobody", "unknown"] {
                let reply = try await portal.curl(Self.path, headers: [mine], Self.registered(partner))
                #expect(reply.status == "404" && Self.code(reply) == "registrationNotFound", "\(partner)")
                #expect(reply.body.contains("there is no registration \(partner)"))
            }
            let other = Self.body(#""merchantIdentifier":"merchant.com.example.other""#)
            let reply = try await portal.curl(Self.path, headers: [mine], other)
            #expect(reply.status == "404" && Self.code(reply) == "merchantNotFound")
            let allowed = try await portal.curl(Self.path, headers: [all], Self.registered("of-nobody"))
            #expect(allowed.status == "200")
        }
        #expect(gateway.calls.count == 1)
    }

    @Test func `other permits are not enough, and a session in a browser cannot have the permit`() async throws {
        try await withPortal { portal in
            let onboard = try await token("onboard", [.onboard, .read], of: nil, portal)
            let merchant = try await portal.signInMerchant()
            for (credentials, status) in [(onboard, "403"), (merchant, "403"), ("Accept: */*", "401")] {
                let reply = try await portal.curl(Self.path, headers: [credentials], Self.registered("mine"))
                #expect(reply.status == status, "\(reply)")
            }
        }
        #expect(gateway.calls.isEmpty)
    }

    @Test func `a validationURL that is not Apple's is refused, with the access in the audit`() async throws {
        try await withPortal { portal in
            let token = try await token("checkout", [.merchantSession], of: nil, portal)
            let body = Self.body(
                #""partnerInternalMerchantIdentifier":"mine","validationURL":"https://attacker.example/""#)
            let reply = try await portal.curl(Self.path, headers: [token], body)
            #expect(reply.status == "422" && Self.code(reply) == "validationURLRefused")
            let records = try await portal.repository.read {
                try $0.auditRecords(merchant: nil, key: nil, before: nil, limit: 10)
            }
            let refused = records.map(\.entry).filter { $0.action == .validationURLRefused }
            #expect(refused.map(\.caller.name) == ["access:checkout"])
        }
    }
}

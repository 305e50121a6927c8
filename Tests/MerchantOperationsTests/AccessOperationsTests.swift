import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct AccessOperationsTests {
    static let name = accessName("shop-backend")
    static let day = Duration.seconds(86_400)

    private func create(
        _ bench: Bench, _ name: AccessName = AccessOperationsTests.name, permits: Set<Permit> = [.onboard],
        merchants: Set<MerchantIdentifier>? = nil, expiresAt: Timestamp? = nil, certificate: [UInt8]? = nil,
        for request: Request? = nil
    ) async throws -> (access: Access, token: PortalSecret?) {
        try await bench.operations.access.create(
            name, permits: permits, merchants: merchants, expiresAt: expiresAt, clientCertificate: certificate,
            for: request ?? bench.request)
    }

    private func isValid(_ token: PortalSecret, in bench: Bench) async throws -> Bool {
        try await bench.operations.access.authenticate(token: token.text) != nil
    }

    @Test func `a token authenticates a machine with the permits and merchants of its access`() async throws {
        let bench = try await Bench()
        try await bench.add(Bench.shop)
        let created = try await create(bench, permits: [.onboard, .read], merchants: [Bench.shop])
        let token = try #require(created.token)
        let found = try await bench.operations.access.authenticate(token: token.text)
        let expected = Grant(permits: [.onboard, .read], merchants: [Bench.shop])
        #expect(found == AuthenticatedAccess(name: Self.name, grant: expected))
        let audited = try #require(try await bench.audited().last)
        #expect(audited.action == .accessCreated && audited.merchantIdentifier == Bench.shop)
        #expect(audited.after?.contains("\(token.kind.rawValue)\(token.identifier)") == true)
        #expect(try await !bench.auditText().contains(token.text))
    }

    @Test func `an unknown, malformed or revoked token does not authenticate`() async throws {
        let bench = try await Bench()
        let token = try #require(try await create(bench).token)
        let foreign = PortalSecret(generating: .access)
        #expect(try await !isValid(foreign, in: bench))
        let session = PortalSecret(generating: .session)
        for text in ["", "mka_", token.text + "0", String(token.text.dropLast()), session.text] {
            #expect(try await bench.operations.access.authenticate(token: text) == nil)
        }
        _ = try await bench.operations.access.revoke(Self.name, for: bench.request)
        #expect(try await !isValid(token, in: bench))
    }

    @Test func `an access expires, and stays expired after the clock was set back`() async throws {
        let bench = try await Bench()
        let expiry = bench.clock.now.adding(Self.day)
        let token = try #require(try await create(bench, expiresAt: expiry).token)
        bench.clock.advance(by: Self.day - .milliseconds(1))
        #expect(try await isValid(token, in: bench))
        bench.clock.advance(by: .milliseconds(1))
        #expect(try await !isValid(token, in: bench))
        bench.clock.step(by: .seconds(-3600))
        #expect(try await !isValid(token, in: bench))
    }

    @Test func `after a rotation both tokens are valid for the overlap, then only the new one`() async throws {
        let bench = try await Bench()
        let first = try #require(try await create(bench).token)
        let second = try await bench.operations.access.rotate(Self.name, for: bench.request)
        #expect(second.access.secrets.map(\.stored) == [second.token.stored, first.stored])
        bench.clock.advance(by: Self.day - .milliseconds(1))
        #expect(try await isValid(first, in: bench))
        bench.clock.advance(by: .milliseconds(1))
        #expect(try await !isValid(first, in: bench))
        #expect(try await isValid(second.token, in: bench))
    }

    @Test func `a second rotation ends the oldest token, and a rotation without overlap ends all older tokens`()
        async throws
    {
        let bench = try await Bench()
        let access = bench.operations.access
        let first = try #require(try await create(bench).token)
        let second = try await access.rotate(Self.name, for: bench.request).token
        let third = try await access.rotate(Self.name, overlap: .seconds(60), for: bench.request).token
        #expect(try await !isValid(first, in: bench))
        #expect(try await isValid(second, in: bench))
        let fourth = try await access.rotate(Self.name, overlap: .zero, for: bench.request).token
        for token in [second, third] { #expect(try await !isValid(token, in: bench)) }
        #expect(try await isValid(fourth, in: bench))
    }

    @Test func `the token before a rotation ends after the overlap that the request names`() async throws {
        let bench = try await Bench()
        let access = bench.operations.access
        _ = try await create(bench)
        let second = try await access.rotate(Self.name, for: bench.request)
        let third = try await access.rotate(Self.name, overlap: .seconds(60), for: bench.request)
        let end = bench.clock.now.adding(.seconds(60))
        #expect(third.access.secrets.map(\.expiresAt) == [nil, end])
        #expect(third.access.secrets.last?.stored == second.token.stored)
    }

    @Test func `a repeated request for a new token is refused, because a token is shown only once`() async throws {
        let bench = try await Bench()
        let request = bench.keyedRequest("a")
        let token = try #require(try await create(bench, for: request).token)
        let repeated = await refusal { _ = try await create(bench, for: request) }
        #expect(repeated?.code == .idempotencyKeyReused && repeated?.detail.contains("rotate") == true)
        let rotation = bench.keyedRequest("b")
        _ = try await bench.operations.access.rotate(Self.name, for: rotation)
        let again = await refusal { _ = try await bench.operations.access.rotate(Self.name, for: rotation) }
        #expect(again?.code == .idempotencyKeyReused)
        #expect(try await isValid(token, in: bench), "the repeat did not rotate again")
        let otherBody = bench.keyedRequest("a", body: "other")
        let other = await refusal { _ = try await create(bench, accessName("other"), for: otherBody) }
        #expect(other?.code == .idempotencyKeyReused)
        #expect(try await bench.audited().suffix(2).map(\.action) == [.accessCreated, .accessRotated])
    }

    @Test func `an access with a client certificate has no token, and a revocation ends it`() async throws {
        let bench = try await Bench()
        let certificate = Bench.certificate(PublicKeyHash(of: [1]), of: Bench.shop)
        let fingerprint = PublicKeyHash(of: certificate).bits
        let access = bench.operations.access
        let request = bench.keyedRequest("a")
        let created = try await create(bench, certificate: certificate, for: request)
        #expect(created.token == nil && created.access.secrets.isEmpty)
        #expect(try await create(bench, certificate: certificate, for: request).access == created.access)
        #expect(try await access.authenticate(certificateFingerprint: fingerprint)?.name == Self.name)
        let other = MerchantIdentifierHash(of: Bench.otherShop).bits
        #expect(try await access.authenticate(certificateFingerprint: other) == nil)
        let same = await refusal { _ = try await create(bench, accessName("other"), certificate: certificate) }
        #expect(same?.code == .accessExists)
        let rotation = await refusal { _ = try await access.rotate(Self.name, for: bench.request) }
        #expect(rotation?.code == .malformed)
        _ = try await access.revoke(Self.name, for: bench.request)
        #expect(try await access.authenticate(certificateFingerprint: fingerprint) == nil)
        _ = try await create(bench, accessName("other"), certificate: certificate)
        #expect(try await access.authenticate(certificateFingerprint: fingerprint)?.name == accessName("other"))
    }

    @Test func `a client certificate that is unreadable, or is a private key, is refused`() async throws {
        let bench = try await Bench()
        let found = await refusal { _ = try await create(bench, certificate: Array("no certificate".utf8)) }
        #expect(found?.code == .malformed && found?.detail.contains("'clientCertificate'") == true)
        let key = await refusal { _ = try await create(bench, certificate: Array("KEY:1".utf8)) }
        #expect(key?.code == .privateKeyUploaded && key?.detail.contains("'clientCertificate'") == true)
        let stored = try await bench.operations.access.list(after: nil, limit: 9)
        #expect(stored.isEmpty)
    }

    @Test(arguments: [[], [.administer], [.onboard, .decrypt]] as [Set<Permit>])
    func `permits that an access cannot have, and no permits, are refused`(permits: Set<Permit>) async throws {
        let bench = try await Bench()
        let found = await refusal { _ = try await create(bench, permits: permits) }
        #expect(found?.code == .malformed)
        for name in ["'onboard'", "'read'"] { #expect(found?.detail.contains(name) == true) }
    }

    @Test func `an access with invalid merchants, or an expiry that is not in the future, is refused`() async throws {
        let bench = try await Bench()
        let now = bench.clock.now
        let tooMany = Set((0...AccessOperations.maximumMerchants).compactMap { MerchantIdentifier("merchant.m\($0)") })
        let none = await refusal { _ = try await create(bench, merchants: []) }
        let many = await refusal { _ = try await create(bench, merchants: tooMany) }
        let past = await refusal { _ = try await create(bench, expiresAt: now) }
        let unknown = await refusal { _ = try await create(bench, merchants: [Bench.shop]) }
        let codes = [none, many, past, unknown].map { $0?.code }
        #expect(codes == [.malformed, .malformed, .malformed, .merchantNotFound])
        #expect(try await bench.operations.access.list(after: nil, limit: 9).isEmpty)
    }

    @Test func `the name of an access cannot be used again, and a revoked or expired access gets no new token`()
        async throws
    {
        let bench = try await Bench()
        let access = bench.operations.access
        _ = try await create(bench)
        let taken = await refusal { _ = try await create(bench) }
        let revoked = try await access.revoke(Self.name, for: bench.request)
        #expect(try await access.revoke(Self.name, for: bench.request) == revoked)
        let takenStill = await refusal { _ = try await create(bench) }
        let rotation = await refusal { _ = try await access.rotate(Self.name, for: bench.request) }
        let unknown = await refusal { _ = try await access.rotate(accessName("nobody"), for: bench.request) }
        #expect([taken, takenStill].map { $0?.code } == [.accessExists, .accessExists])
        #expect([rotation, unknown].map { $0?.code } == [.accessNotFound, .accessNotFound])
        _ = try await create(bench, accessName("short"), expiresAt: bench.clock.now.adding(.seconds(1)))
        bench.clock.advance(by: .seconds(1))
        let expired = await refusal { _ = try await access.rotate(accessName("short"), for: bench.request) }
        #expect(expired?.code == .accessNotFound)
        #expect(try await bench.audited().map(\.action).count { $0 == .accessRevoked } == 1)
    }

    @Test func `a revocation of an access ends its open invitations and the sessions of its used ones`() async throws {
        let bench = try await Bench()
        try await bench.add(Bench.shop)
        _ = try await create(bench)
        let sessions = bench.operations.portalSessions
        func invite(_ request: Request) async throws -> (invitation: Invitation, secret: PortalSecret) {
            try await bench.operations.invitations.create(for: Bench.shop, expiresAt: nil, note: nil, for: request)
        }
        let machine = bench.machineRequest(Self.name)
        let open = try await invite(machine)
        let used = try await invite(machine)
        let foreign = try await invite(bench.request)
        let session = try await sessions.begin(
            invitation: used.secret.text, address: "192.0.2.7", requestId: "r-2"
        ).secret
        _ = try await bench.operations.access.revoke(Self.name, for: bench.request)
        #expect(try await sessions.invitationState(open.secret.text) == .revoked)
        #expect(try await sessions.invitationState(used.secret.text) == .used)
        #expect(try await sessions.resume(session.text, extending: true) == nil)
        #expect(try await sessions.invitationState(foreign.secret.text) == .open(foreign.invitation))
        let audited = try #require(try await bench.audited().last)
        #expect(audited.action == .accessRevoked)
        #expect(audited.after?.contains(" invitations revoked: 1, sessions ended: 1 ") == true)
        // The request was authenticated before the revocation.
        let late = await refusal { _ = try await invite(machine) }
        #expect(late?.code == .unauthorized)
    }

    @Test func `an overlap out of range is refused`() async throws {
        let bench = try await Bench()
        _ = try await create(bench)
        for overlap in [Duration.seconds(-1), AccessOperations.longestOverlap + .seconds(1)] {
            let found = await refusal {
                _ = try await bench.operations.access.rotate(Self.name, overlap: overlap, for: bench.request)
            }
            #expect(found?.code == .malformed)
        }
    }

    @Test func `the last use is stored at most once a minute`() async throws {
        let bench = try await Bench()
        let token = try #require(try await create(bench).token)
        let access = bench.operations.access
        func lastUse() async throws -> Timestamp? { try await access.access(Self.name).lastUsedAt }
        #expect(try await lastUse() == nil)
        let start = bench.clock.now
        #expect(try await isValid(token, in: bench))
        #expect(try await lastUse() == start)
        bench.clock.advance(by: .seconds(59))
        #expect(try await isValid(token, in: bench))
        #expect(try await lastUse() == start)
        bench.clock.advance(by: .seconds(1))
        #expect(try await isValid(token, in: bench))
        #expect(try await lastUse() == start.adding(.seconds(60)))
    }
}

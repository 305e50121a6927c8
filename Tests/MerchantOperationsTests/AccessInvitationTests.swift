import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct AccessInvitationTests {
    static let day = Duration.seconds(86_400)

    private func bench() async throws -> Bench {
        let bench = try await Bench()
        try await bench.add(Bench.shop, Bench.otherShop)
        return bench
    }

    private func invite(
        _ bench: Bench, _ merchant: MerchantIdentifier = Bench.shop, expiresAt: Timestamp? = nil, note: String? = nil,
        for request: Request? = nil
    ) async throws -> (invitation: Invitation, secret: PortalSecret) {
        try await bench.operations.invitations.create(
            for: merchant, expiresAt: expiresAt, note: note, for: request ?? bench.request)
    }

    @Test func `an invitation is valid for 7 days by default, and the audit does not have its secret`() async throws {
        let bench = try await bench()
        let created = try await invite(bench, note: "for Jane")
        #expect(created.invitation.expiresAt == bench.clock.now.adding(Self.day * 7))
        #expect(created.invitation.createdBy == "uid:1000" && created.invitation.note == "for Jane")
        let audited = try #require(try await bench.audited().last)
        #expect(audited.action == .invitationCreated && audited.merchantIdentifier == Bench.shop)
        #expect(audited.after?.contains("\(created.invitation.identifier)") == true)
        #expect(try await !bench.auditText().contains(created.secret.text))
        let sessions = bench.operations.portalSessions
        bench.clock.advance(by: Self.day * 7 - .milliseconds(1))
        #expect(try await sessions.invitationState(created.secret.text) == .open(created.invitation))
        bench.clock.advance(by: .milliseconds(1))
        #expect(try await sessions.invitationState(created.secret.text) == .expired)
    }

    @Test func `an invitation with an invalid expiry or note, or for an unknown merchant, is refused`() async throws {
        let bench = try await bench()
        let now = bench.clock.now
        let unknown = try #require(MerchantIdentifier("merchant.com.example.unknown"))
        let past = await refusal { _ = try await invite(bench, expiresAt: now) }
        let late = await refusal { _ = try await invite(bench, expiresAt: now.adding(Self.day * 31)) }
        let long = await refusal { _ = try await invite(bench, note: String(repeating: "n", count: 257)) }
        let empty = await refusal { _ = try await invite(bench, note: "") }
        let nobody = await refusal { _ = try await invite(bench, unknown) }
        #expect([past, late, long, empty].map { $0?.code } == [.malformed, .malformed, .malformed, .malformed])
        #expect(nobody?.code == .merchantNotFound)
        #expect(try await bench.operations.invitations.list(of: nil, after: nil, limit: 9).isEmpty)
    }

    @Test func `a repeated creation is refused, because a link is shown only once`() async throws {
        let bench = try await bench()
        let request = bench.keyedRequest("a")
        let created = try await invite(bench, for: request)
        let repeated = await refusal { _ = try await invite(bench, for: request) }
        #expect(repeated?.code == .idempotencyKeyReused)
        #expect(repeated?.detail.contains("\(created.invitation.identifier)") == true)
        let list = try await bench.operations.invitations.list(of: Bench.shop, after: nil, limit: 9)
        #expect(list == [created.invitation])
    }

    @Test func `a merchant has at most 100 open invitations`() async throws {
        let bench = try await bench()
        for _ in 0..<InvitationOperations.maximumOpen { _ = try await invite(bench) }
        let found = await refusal { _ = try await invite(bench) }
        #expect(found?.code == .tooManyInvitations)
        _ = try await invite(bench, Bench.otherShop)
        let first = try #require(
            try await bench.operations.invitations.list(of: Bench.shop, after: nil, limit: 1).first)
        _ = try await bench.operations.invitations.revoke(first.identifier, for: bench.request)
        _ = try await invite(bench)
        bench.clock.advance(by: Self.day * 7)
        _ = try await invite(bench)
    }

    /// Creates the access, and returns a request of a machine that has it.
    private func machine(_ name: String, _ bench: Bench, expiresAt: Timestamp? = nil) async throws -> Request {
        _ = try await bench.operations.access.create(
            accessName(name), permits: [.onboard], merchants: nil, expiresAt: expiresAt, clientCertificate: nil,
            for: bench.request)
        return bench.machineRequest(accessName(name))
    }

    /// Stores as many invitations of `creator` as a client of the portal may create for one merchant in 30 days, and
    /// lets them expire.
    private func storeExpiredInvitations(_ bench: Bench, createdBy creator: String) async throws {
        let now = bench.clock.now
        try await bench.repository.write { transaction in
            for _ in 0..<InvitationOperations.maximumRecent {
                try transaction.insert(
                    Invitation(
                        identifier: .random(), merchantIdentifier: Bench.shop,
                        secret: PortalSecret(generating: .invitation).stored, note: nil, createdBy: creator,
                        createdAt: now, expiresAt: now.adding(.seconds(1))))
            }
        }
        bench.clock.advance(by: .seconds(1))
    }

    @Test func `a client of the portal creates at most 1000 invitations for a merchant in 30 days`() async throws {
        let bench = try await bench()
        let first = try await machine("first", bench)
        let second = try await machine("second", bench)
        try await storeExpiredInvitations(bench, createdBy: first.caller.name)
        let found = await refusal { _ = try await invite(bench, for: first) }
        #expect(found?.code == .tooManyInvitations && found?.detail.contains("access:first") == true)
        _ = try await invite(bench, Bench.otherShop, for: first)
        _ = try await invite(bench, for: second)
        _ = try await invite(bench)
        bench.clock.advance(by: Self.day * 30)
        _ = try await invite(bench, for: first)
    }

    @Test func `an admin's invitations are limited only while they are open`() async throws {
        let bench = try await bench()
        try await storeExpiredInvitations(bench, createdBy: bench.request.caller.name)
        _ = try await invite(bench)
        _ = try await invite(bench, for: try await machine("first", bench))
    }

    @Test func `an invitation ends at the latest with the access that created it`() async throws {
        let bench = try await bench()
        let now = bench.clock.now
        let end = now.adding(Self.day * 2)
        let request = try await machine("short", bench, expiresAt: end)
        let tomorrow = now.adding(Self.day)
        #expect(try await invite(bench, for: request).invitation.expiresAt == end)
        #expect(try await invite(bench, expiresAt: now.adding(Self.day * 30), for: request).invitation.expiresAt == end)
        #expect(try await invite(bench, expiresAt: tomorrow, for: request).invitation.expiresAt == tomorrow)
        #expect(try await invite(bench).invitation.expiresAt == now.adding(Self.day * 7))
        bench.clock.advance(by: Self.day * 2)
        let late = await refusal { _ = try await invite(bench, for: request) }
        #expect(late?.code == .unauthorized)
    }

    @Test func `a revoked invitation stays revoked and ends its session`() async throws {
        let bench = try await bench()
        let (invitations, sessions) = (bench.operations.invitations, bench.operations.portalSessions)
        let created = try await invite(bench)
        let begun = try await sessions.begin(invitation: created.secret.text, address: "192.0.2.7", requestId: "r-2")
        #expect(try await sessions.resume(begun.secret.text, extending: true) != nil)
        let revoked = try await invitations.revoke(created.invitation.identifier, for: bench.request)
        #expect(try await sessions.resume(begun.secret.text, extending: true) == nil)
        #expect(try await sessions.invitationState(created.secret.text) == .revoked)
        #expect(try await invitations.revoke(created.invitation.identifier, for: bench.request) == revoked)
        #expect(try await bench.audited().count { $0.action == .invitationRevoked } == 1)
        let unknown = await refusal { _ = try await invitations.revoke(.random(), for: bench.request) }
        #expect(unknown?.code == .invitationNotFound)
    }

    @Test func `invitations are listed newest first, of one merchant or of all`() async throws {
        let bench = try await bench()
        let first = try await invite(bench).invitation
        let second = try await invite(bench, Bench.otherShop).invitation
        let third = try await invite(bench).invitation
        let invitations = bench.operations.invitations
        #expect(try await invitations.list(of: nil, after: nil, limit: 9) == [third, second, first])
        #expect(try await invitations.list(of: Bench.shop, after: third.identifier, limit: 9) == [first])
        #expect(try await invitations.invitation(second.identifier) == second)
        #expect(invitations.state(of: first) == .open(first))
    }
}

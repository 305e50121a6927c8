import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite struct AccessSessionTests {
    private func bench() async throws -> Bench {
        let bench = try await Bench()
        try await bench.add(Bench.shop)
        return bench
    }

    private func invite(_ bench: Bench) async throws -> (invitation: Invitation, secret: PortalSecret) {
        try await bench.operations.invitations.create(
            for: Bench.shop, expiresAt: nil, note: nil, for: bench.request)
    }

    private func begin(_ bench: Bench) async throws -> (session: PortalSession, secret: PortalSecret) {
        try await bench.operations.portalSessions.begin(
            invitation: try await invite(bench).secret.text, address: "192.0.2.7", requestId: "r-2")
    }

    @Test func `an invitation begins one session of its merchant`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let (invitation, secret) = try await invite(bench)
        for _ in 0..<3 { #expect(try await sessions.invitationState(secret.text) == .open(invitation)) }
        let begun = try await sessions.begin(invitation: secret.text, address: "192.0.2.7", requestId: "r-2")
        let resumed = try #require(try await sessions.resume(begun.secret.text, extending: true))
        #expect(resumed.holder == .invitation(invitation.identifier, Bench.shop))
        #expect(resumed.caller(from: "192.0.2.8").name == "invitation:\(invitation.identifier)")
        let audited = try #require(try await bench.audited().last)
        #expect(audited.action == .invitationUsed && audited.merchantIdentifier == Bench.shop)
        #expect(audited.requestId == "r-2")
        #expect(audited.caller == .remote(.invitation(invitation.identifier, address: "192.0.2.7")))
        #expect(try await sessions.invitationState(secret.text) == .used)
        let again = await refusal {
            _ = try await sessions.begin(invitation: secret.text, address: "192.0.2.7", requestId: "r-3")
        }
        #expect(again?.code == .unauthorized && again?.detail.contains("used already") == true)
        #expect(try await !bench.auditText().contains(begun.secret.text))
    }

    @Test func `a browser that uses a link twice within a minute gets the same session`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let link = try await invite(bench).secret
        #expect(try await sessions.secretOfSession(begunBy: link.text, .invitation, in: "browser") == nil)
        let begun = try await sessions.begin(
            invitation: link.text, in: "browser", address: "192.0.2.7", requestId: "r-2")
        bench.clock.advance(by: .seconds(59))
        let again = try #require(try await sessions.secretOfSession(begunBy: link.text, .invitation, in: "browser"))
        #expect(again.text == begun.secret.text)
        #expect(try await sessions.secretOfSession(begunBy: link.text, .invitation, in: "other browser") == nil)
        let otherLink = try await invite(bench).secret
        #expect(try await sessions.secretOfSession(begunBy: otherLink.text, .invitation, in: "browser") == nil)
        bench.clock.advance(by: .seconds(1))
        #expect(try await sessions.secretOfSession(begunBy: link.text, .invitation, in: "browser") == nil)
        #expect(try await sessions.resume(begun.secret.text, extending: false) != nil)
    }

    @Test func `a second use of a login link does not return a session that has ended`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let link = try await sessions.createLogin(uid: 1000, groups: [], for: bench.request).secret
        let begun = try await sessions.begin(login: link.text, in: "browser", address: "192.0.2.7", requestId: "r-2")
        try await sessions.end(begun.secret.text)
        #expect(try await sessions.secretOfSession(begunBy: link.text, .login, in: "browser") == nil)
    }

    @Test func `sessions of one link in two browsers, or in unknown browsers, have different secrets`() {
        let link = PortalSecret(generating: .invitation)
        let texts = ["a", "b", nil, nil].map { PortalSecret.session(begunBy: link, in: $0).text }
        #expect(Set(texts).count == 4)
        #expect(texts.allSatisfy { PortalSecret(text: $0, kind: .session) != nil })
        #expect(PortalSecret.session(begunBy: link, in: "a").text == texts[0])
    }

    @Test func `unknown secrets and malformed secrets are refused with the same error`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        var refusals: [MerchantError?] = []
        for text in ["", "mki_", PortalSecret(generating: .invitation).text, PortalSecret(generating: .login).text] {
            #expect(try await sessions.invitationState(text) == .unknown)
            let found = await refusal {
                _ = try await sessions.begin(invitation: text, address: "192.0.2.7", requestId: "r-2")
            }
            #expect(found?.code == .unauthorized)
            refusals.append(found)
        }
        #expect(Set(refusals).count == 1)
    }

    @Test func `the invitation of a removed merchant is revoked`() async throws {
        let bench = try await bench()
        let secret = try await invite(bench).secret
        _ = try await bench.operations.merchants.removeMerchant(Bench.shop, dryRun: false, for: bench.request)
        #expect(try await bench.operations.portalSessions.invitationState(secret.text) == .revoked)
    }

    @Test func `a session ends after 30 minutes without a request`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let secret = try await begin(bench).secret
        for _ in 0..<3 {
            bench.clock.advance(by: .seconds(29 * 60))
            #expect(try await sessions.resume(secret.text, extending: true) != nil)
        }
        bench.clock.advance(by: .seconds(30 * 60))
        #expect(try await sessions.resume(secret.text, extending: true) == nil)
    }

    @Test func `a session ends after 12 hours although it is used`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let secret = try await begin(bench).secret
        let end = bench.clock.now.adding(.seconds(12 * 3600))
        while bench.clock.now.adding(.seconds(600)) < end {
            bench.clock.advance(by: .seconds(600))
            #expect(try await sessions.resume(secret.text, extending: true)?.endsAt == end)
        }
        bench.clock.advance(by: .seconds(600))
        #expect(try await sessions.resume(secret.text, extending: true) == nil)
    }

    @Test func `the last request is stored at most once a minute`() async throws {
        let bench = try await bench()
        let (session, secret) = try await begin(bench)
        func stored() async throws -> Timestamp? {
            let identifier = session.secret.identifier
            return try await bench.repository.read { try $0.portalSession(secretIdentifier: identifier)?.lastSeenAt }
        }
        let start = bench.clock.now
        bench.clock.advance(by: .seconds(59))
        _ = try await bench.operations.portalSessions.resume(secret.text, extending: true)
        #expect(try await stored() == start)
        bench.clock.advance(by: .seconds(1))
        _ = try await bench.operations.portalSessions.resume(secret.text, extending: true)
        #expect(try await stored() == start.adding(.seconds(60)))
    }

    @Test func `signing out ends a session, and needs the secret of this session`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let secret = try await begin(bench).secret
        try await sessions.end(PortalSecret(generating: .session).text)
        try await sessions.end("")
        #expect(try await sessions.resume(secret.text, extending: true) != nil)
        try await sessions.end(secret.text)
        #expect(try await sessions.resume(secret.text, extending: true) == nil)
        try await sessions.end(secret.text)
    }

    @Test func `a login of an operator begins one session within 60 seconds`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let login = try await sessions.createLogin(uid: 1000, groups: [1000, 27], for: bench.request)
        #expect(login.expiresAt == bench.clock.now.adding(.seconds(60)))
        #expect(try await sessions.isLoginOpen(login.secret.text))
        let begun = try await sessions.begin(login: login.secret.text, address: "192.0.2.7", requestId: "r-2")
        #expect(begun.session.holder == .operating(uid: 1000, groups: [1000, 27]))
        let resumed = try await sessions.resume(begun.secret.text, extending: true)
        #expect(resumed?.caller(from: "192.0.2.7").name == "operator:1000")
        #expect(try await !sessions.isLoginOpen(login.secret.text))
        #expect(
            try await bench.audited().suffix(2).map(\.action) == [.operatorLoginCreated, .operatorLoginUsed])
        #expect(try await !bench.auditText().contains(login.secret.text))
        let late = try await sessions.createLogin(uid: 1000, groups: [], for: bench.request)
        bench.clock.advance(by: .seconds(60))
        #expect(try await !sessions.isLoginOpen(late.secret.text))
        for text in [login.secret.text, late.secret.text, "", PortalSecret(generating: .login).text] {
            let found = await refusal {
                _ = try await sessions.begin(login: text, address: "192.0.2.7", requestId: "r-3")
            }
            #expect(found?.code == .unauthorized)
        }
    }

    @Test func `a request that a page sends by itself does not extend its session`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let secret = try await begin(bench).secret
        for _ in 0..<29 {
            bench.clock.advance(by: .seconds(60))
            #expect(try await sessions.resume(secret.text, extending: false) != nil)
        }
        bench.clock.advance(by: .seconds(60))
        #expect(try await sessions.resume(secret.text, extending: false) == nil)
        #expect(try await sessions.resume(secret.text, extending: true) == nil)
    }

    @Test func `an admin ends the sessions and unused links of one operator, or of all operators`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let merchants = try await begin(bench).secret
        func signIn(_ uid: UInt32) async throws -> PortalSecret {
            let login = try await sessions.createLogin(uid: uid, groups: [], for: bench.request).secret
            return try await sessions.begin(login: login.text, address: "192.0.2.7", requestId: "r-2").secret
        }
        let first = [try await signIn(1000), try await signIn(1000)]
        let link = try await sessions.createLogin(uid: 1000, groups: [], for: bench.request).secret
        let second = try await signIn(1001)
        func alive(_ secrets: [PortalSecret]) async throws -> [Bool] {
            var alive: [Bool] = []
            for secret in secrets { alive.append(try await sessions.resume(secret.text, extending: true) != nil) }
            return alive
        }

        let ended = try await sessions.endOperatorSessions(of: 1000, for: bench.request)
        #expect(ended.sessions == 2 && ended.logins == 1)
        #expect(try await alive(first + [second, merchants]) == [false, false, true, true])
        #expect(try await !sessions.isLoginOpen(link.text))
        let audited = try #require(try await bench.audited().last)
        #expect(audited.action == .operatorSessionsEnded && audited.caller == Bench.caller)
        #expect(audited.before == "operator=1000" && audited.after == "sessions ended: 2, logins ended: 1")

        let all = try await sessions.endOperatorSessions(of: nil, for: bench.request)
        #expect(all.sessions == 1 && all.logins == 0)
        #expect(try await alive([second, merchants]) == [false, true])
        #expect(try await bench.audited().last?.before == "operator=*")
    }

    @Test func `no session and no login outlives a start with an older database`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        let session = try await begin(bench).secret
        let login = try await sessions.createLogin(uid: 1000, groups: [], for: bench.request).secret
        try await bench.operations.start.restartWaitingTimes()
        #expect(try await sessions.resume(session.text, extending: true) == nil)
        #expect(try await !sessions.isLoginOpen(login.text))
    }

    @Test func `ended sessions and old logins are removed, and valid ones are kept`() async throws {
        let bench = try await bench()
        let sessions = bench.operations.portalSessions
        _ = try await begin(bench)
        _ = try await sessions.createLogin(uid: 1000, groups: [], for: bench.request)
        bench.clock.advance(by: .seconds(31 * 60))
        let valid = try await begin(bench).secret
        #expect(try await sessions.removeExpired() == 1)
        #expect(try await sessions.resume(valid.text, extending: true) != nil)
        bench.clock.advance(by: .seconds(13 * 3600))
        #expect(try await sessions.removeExpired() == 2)
        #expect(try await sessions.removeExpired() == 0)
    }
}

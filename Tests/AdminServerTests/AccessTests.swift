import Foundation
import Glibc
import MerchantCore
import MerchantOperations
import MerchantTestSupport
import Testing
import Vocabulary

@Suite("Access to the portal over HTTP") struct AccessTests {
    private static let create = #"{"name": "shop-portal", "permits": ["onboard"], "allMerchants": true}"#

    @Test("only the responses that create a token contain it")
    func tokens() async throws {
        try await TestServer.run { server in
            let created = try await server.curl("POST", "/v1/access", Self.create)
            #expect(created.status == 201 && created.headers["location"] == "/v1/access/shop-portal", "\(created.text)")
            let token = try #require(created.string("token"))
            #expect(PortalSecret(text: token, kind: .access) != nil)
            #expect(created.headers["cache-control"] == "no-store")
            let rotated = try await server.curl(
                "POST", "/v1/access/shop-portal/rotate", #"{"overlapSeconds": 60}"#)
            let newToken = try #require(rotated.string("token"))
            #expect(rotated.status == 200 && newToken != token)
            for path in ["/v1/access", "/v1/access/shop-portal"] {
                let found = try await server.curl("GET", path)
                #expect(found.status == 200 && found.text.contains("shop-portal"), "\(found.text)")
                #expect(!found.text.contains(token) && !found.text.contains(newToken), "\(path)")
            }
            #expect(!server.log.lines.contains { $0.contains(token) || $0.contains(newToken) })
            #expect(try await server.operations.access.authenticate(token: token)?.name.rawValue == "shop-portal")
            let revoked = try await server.curl("POST", "/v1/access/shop-portal/revoke")
            #expect(revoked.status == 200 && revoked.string("revokedAt") != nil && revoked.string("token") == nil)
            #expect(try await server.operations.access.authenticate(token: newToken) == nil)
        }
    }

    @Test("a client certificate replaces the token, and the document has its fingerprint")
    func clientCertificate() async throws {
        try await TestServer.run { server in
            // The custodian of the test accepts certificates in this form.
            let certificate = "CERT:\(PublicKeyHash(of: [1]).hex):merchant.com.example.shop"
            let body = """
                {"name": "backend", "permits": ["onboard"], "allMerchants": true, "clientCertificate": "\(certificate)"}
                """
            let created = try await server.curl("POST", "/v1/access", body)
            #expect(created.status == 201 && created.string("token") == nil, "\(created.text)")
            #expect(created.string("certificateFingerprint") == PublicKeyHash(of: Array(certificate.utf8)).hex)
            // The test's daemon has no portal, so no client certificate is read.
            let warnings = try #require(created.json()["warnings"] as? [String])
            #expect(warnings.count == 1 && warnings.allSatisfy { $0.contains("portal.tls.client-ca") })
            let shown = try await server.curl("GET", "/v1/access/backend")
            #expect(try shown.json()["warnings"] == nil)
            let withToken = try await server.curl(
                "POST", "/v1/access", #"{"name": "token", "permits": ["onboard"], "allMerchants": true}"#)
            #expect(withToken.status == 201)
            #expect(try withToken.json()["warnings"] == nil)
            let rotated = try await server.curl("POST", "/v1/access/backend/rotate")
            #expect(rotated.status == 400 && rotated.string("code") == "malformed", "\(rotated.text)")
        }
    }

    @Test(
        "an invalid request is refused, and names the field",
        arguments: [
            (#"{"name": "a b", "permits": ["onboard"], "allMerchants": true}"#, "'name'"),
            (#"{"name": "a", "permits": ["decrypt"], "allMerchants": true}"#, "'permits'"),
            (#"{"name": "a", "permits": ["fly"], "allMerchants": true}"#, "'permits'"),
            (#"{"name": "a", "permits": [], "allMerchants": true}"#, "'permits'"),
            (#"{"name": "a", "permits": ["onboard"]}"#, "'merchants'"),
            (#"{"name": "a", "permits": ["onboard"], "merchants": []}"#, "'merchants'"),
            (#"{"name": "a", "permits": ["onboard"], "merchants": ["merchant.a"], "allMerchants": true}"#, "exclude"),
            (
                #"{"name": "a", "permits": ["onboard"], "allMerchants": true, "expiresAt": "2001-01-01T00:00:00Z"}"#,
                "'expiresAt'"
            ),
            (
                #"{"name": "a", "permits": ["onboard"], "allMerchants": true, "clientCertificate": "MAA="}"#,
                "'clientCertificate'"
            ),
        ])
    func invalid(_ body: String, _ part: String) async throws {
        try await TestServer.run { server in
            let reply = try await server.curl("POST", "/v1/access", body)
            #expect(reply.status == 400 && reply.string("code") == "malformed", "\(reply.text)")
            #expect(reply.string("detail")?.contains(part) == true, "\(reply.text)")
        }
    }

    @Test("a name can be used only once, and an unknown merchant or access gets 404")
    func conflicts() async throws {
        try await TestServer.run { server in
            #expect(try await server.curl("POST", "/v1/access", Self.create).status == 201)
            #expect(try await server.curl("POST", "/v1/access", Self.create).string("code") == "accessExists")
            let body = #"{"name": "b", "permits": ["onboard"], "merchants": ["merchant.unknown"]}"#
            #expect(try await server.curl("POST", "/v1/access", body).string("code") == "merchantNotFound")
            for (method, path) in [("GET", ""), ("POST", "/rotate"), ("POST", "/revoke")] {
                let reply = try await server.curl(method, "/v1/access/unknown\(path)")
                #expect(reply.status == 404 && reply.string("code") == "accessNotFound", "\(reply.text)")
            }
        }
    }

    @Test("without a portal, no link is created")
    func withoutPortal() async throws {
        try await TestServer.run { server in
            let added = try await server.addTwoMerchants()
            let body = #"{"merchantIdentifier": "\#(added.merchant)"}"#
            for (path, body) in [("/v1/invitations", Data(body.utf8)), ("/v1/operator-logins", nil)] {
                let reply = try await server.curl("POST", path, body)
                #expect(reply.status == 409 && reply.string("code") == "portalNotConfigured", "\(reply.text)")
            }
            let list = try await server.curl("GET", "/v1/invitations?merchant=\(added.merchant)")
            #expect(list.status == 200 && list.text == #"{"items":[]}"#)
        }
    }

    @Test("a caller with permits for one merchant manages only its invitations, and no access")
    func scoped() async throws {
        let granted = try #require(MerchantIdentifier("merchant.com.example.shop"))
        try await TestServer.run(policy: TestServer.policy([.read, .administer], merchants: [granted])) { server in
            let added = try await server.addTwoMerchants()
            let request = Request(caller: Caller(uid: 0, gid: 0, pid: 1, program: "test"), requestId: "test")
            var identifiers: [InvitationIdentifier] = []
            for merchant in [added.merchant, added.other] {
                identifiers.append(
                    try await server.operations.invitations.create(
                        for: merchant, expiresAt: nil, note: nil, for: request
                    ).invitation.identifier)
            }
            #expect(try await server.curl("GET", "/v1/invitations").status == 403)
            #expect(try await server.curl("GET", "/v1/invitations?merchant=\(added.other)").status == 403)
            let own = try await server.curl("GET", "/v1/invitations?merchant=\(added.merchant)")
            #expect(own.status == 200 && own.text.contains(identifiers[0].rawValue), "\(own.text)")
            #expect(try await server.curl("POST", "/v1/invitations/\(identifiers[1])/revoke").status == 403)
            let revoked = try await server.curl("POST", "/v1/invitations/\(identifiers[0])/revoke")
            #expect(revoked.status == 200 && revoked.string("revokedAt") != nil, "\(revoked.text)")
            for (method, path) in [("GET", "/v1/access"), ("POST", "/v1/access"), ("POST", "/v1/operator-logins")] {
                #expect(try await server.curl(method, path).status == 403, "\(method) \(path)")
            }
        }
    }
    /// Signs in as an operator.
    private static func signIn(_ uid: UInt32, _ server: TestServer) async throws -> PortalSecret {
        let sessions = server.operations.portalSessions
        let request = Request(caller: Caller(uid: uid, gid: 0, pid: 1, program: "test"), requestId: "test")
        let login = try await sessions.createLogin(uid: uid, groups: [], for: request).secret
        return try await sessions.begin(login: login.text, address: "192.0.2.7", requestId: "test").secret
    }

    @Test("an operator may end their own sessions with the permit read, and those of others only with administer")
    func operatorSessions() async throws {
        let own = getuid()
        for permits in [[.read], [.read, .administer]] as [Set<Permit>] {
            try await TestServer.run(policy: TestServer.policy(permits)) { server in
                let secrets = [
                    try await Self.signIn(own, server), try await Self.signIn(own &+ 1, server),
                    try await Self.signIn(own &+ 2, server),
                ]
                func alive() async throws -> [Bool] {
                    var alive: [Bool] = []
                    for secret in secrets {
                        let session = try await server.operations.portalSessions.resume(secret.text, extending: false)
                        alive.append(session != nil)
                    }
                    return alive
                }
                let path = "/v1/operator-sessions"
                let first = try await server.curl("DELETE", path)
                #expect(first.status == 200 && first.text == #"{"linksEnded":0,"sessionsEnded":1}"#, "\(first.text)")
                #expect(try await alive() == [false, true, true])
                let mayEndAll = permits.contains(.administer)
                let second = try await server.curl("DELETE", "\(path)?uid=\(own &+ 1)")
                #expect(second.status == (mayEndAll ? 200 : 403), "\(second.text)")
                #expect(try await alive() == [false, !mayEndAll, true])
                let third = try await server.curl("DELETE", "\(path)?allUsers=true")
                #expect(third.status == (mayEndAll ? 200 : 403), "\(third.text)")
                #expect(try await alive() == [false, !mayEndAll, !mayEndAll])
            }
        }
    }

    @Test(
        "an invalid selection of operators is refused",
        arguments: ["uid=-1", "uid=4294967296", "uid=root", "allUsers=1", "uid=0&allUsers=true", "user=0"])
    func invalidOperators(_ query: String) async throws {
        try await TestServer.run { server in
            let secret = try await Self.signIn(0, server)
            let reply = try await server.curl("DELETE", "/v1/operator-sessions?\(query)")
            #expect(reply.status == 400 && reply.string("code") == "malformed", "\(reply.text)")
            #expect(
                try await server.operations.portalSessions.resume(secret.text, extending: false) != nil)
        }
    }
}

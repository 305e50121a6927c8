import Crypto
import DecryptorServer
import FoundationEssentials
import Glibc
import MerchantCore
import Synchronization
import Testing
import Vocabulary
import WireAPI

@Suite("Resolving a publicKeyHash")
struct ResolveTests {
    let server = DecryptorTestServer()

    private func problem(_ reply: SocketClient.Reply) throws -> Problem {
        #expect(reply.fields["content-type"] == "application/problem+json")
        let problem = try JSONDecoder().decode(Problem.self, from: Data(reply.body))
        #expect(problem.status == reply.status)
        #expect(reply.fields["x-request-id"] == problem.requestId)
        return problem
    }

    @Test("The response for an active key has its certificate and not its private key")
    func activeKey() async throws {
        let hash = server.addKey(.standby)
        try await server.serve { _ in
            let reply = try await server.ask("GET", "/v1/keys/\(hash.base64URL)")
            #expect(reply.status == 200)
            let document = try JSONDecoder().decode(ResolvedKeyDocument.self, from: Data(reply.body))
            #expect(document.publicKeyHash == hash)
            #expect(document.merchantIdentifier.rawValue == "merchant.com.example.shop")
            #expect(document.merchantIdentifierHash == MerchantIdentifierHash(of: DecryptorTestServer.merchant))
            #expect(document.algorithm == .ecV1)
            #expect(document.state == .standby)
            #expect(document.certificate.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
            #expect(document.notAfter > document.notBefore)
            #expect(!reply.text.contains("privateKey"))
        }
    }

    /// The server writes this response without JSONEncoder.
    @Test("The response is the JSON that JSONEncoder writes", arguments: [KeyState.current, .standby])
    func encoding(state: KeyState) async throws {
        let hash = server.addKey(state)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try await server.serve { _ in
            let body = Data(try await server.ask("GET", "/v1/keys/\(hash.base64URL)").body)
            let document = try JSONDecoder().decode(ResolvedKeyDocument.self, from: body)
            let encoded = try encoder.encode(document)
            #expect(body == encoded)
        }
    }

    @Test("A key is found by its hash in Base64url, Base64 or hex; anything else gets 400")
    func spellings() async throws {
        let hash = server.addKey()
        let percent = hash.base64.replacing("+", with: "%2B").replacing("/", with: "%2f").replacing("=", with: "%3D")
        try await server.serve { _ in
            for spelling in [hash.base64URL, percent, hash.hex, hash.hex.uppercased()] {
                let status = try await server.ask("GET", "/v1/keys/\(spelling)").status
                #expect(status == 200, "\(spelling)")
            }
            let wrong = [
                "", "short", String(hash.hex.dropLast()), hash.base64URL + "A", String(repeating: "%", count: 43),
                String(hash.base64URL.dropLast()) + "_", "%zz", "%ff%fe",
            ]
            for spelling in wrong {
                let reply = try await server.ask("GET", "/v1/keys/\(spelling)")
                #expect(reply.status == 400, "\(spelling)")
                #expect(try problem(reply).code == "malformed")
            }
        }
    }

    @Test("Unknown, pending and identity keys are 404 with the same detail")
    func notFound() async throws {
        let hashes = [
            server.addKey(.pending), server.addKey(.current, purpose: .identity),
            PublicKeyHash(of: P256.KeyAgreement.PrivateKey().publicKey.derRepresentation),
        ]
        try await server.serve { _ in
            var details: Set<String> = []
            for hash in hashes {
                let problem = try problem(try await server.ask("GET", "/v1/keys/\(hash.base64URL)"))
                #expect(problem.status == 404)
                #expect(problem.code == "keyNotFound")
                details.insert(problem.detail.replacing(hash.base64, with: "HASH"))
            }
            #expect(details.count == 1)
        }
    }

    @Test("Revoked and destroyed keys are 410", arguments: [KeyState.revoked, .destroyed])
    func gone(state: KeyState) async throws {
        let hash = server.addKey(state)
        try await server.serve { _ in
            let reply = try await server.ask("GET", "/v1/keys/\(hash.base64URL)")
            #expect(reply.status == 410)
            #expect(try problem(reply).detail.contains(hash.base64))
        }
    }

    @Test("A revocation takes effect at the next request, and so does a restore")
    func revoke() async throws {
        let hash = server.addKey()
        let target = "/v1/keys/\(hash.base64URL)"
        try await server.serve { _ in
            for _ in 0..<50 {
                #expect(
                    try await server.client { client in try (0..<2).map { _ in try client.ask("GET", target).status } }
                        == [200, 200])
                try await server.store.move(hash, to: .revoked)
                #expect(try await server.ask("GET", target).status == 410)
                try await server.store.move(hash, to: .retiring)
            }
        }
    }

    @Test func `a repeated request is answered without the store, also after a month`() async throws {
        let hash = server.addKey()
        let target = "/v1/keys/\(hash.base64URL)"
        try await server.serve { _ in
            let first = try await server.client { client in try (0..<10).map { _ in try client.ask("GET", target).text }
            }
            server.clock.advance(by: .seconds(30 * 86_400))
            #expect(Set(first + [try await server.ask("GET", target).text]).count == 1)
            #expect(server.store.reads.load(ordering: .relaxed) == 1)
        }
    }

    @Test func `a certificate is returned exactly while it is in use, although the store reports no change then`()
        async throws
    {
        let hash = server.addKey()
        let newer = server.certificate(from: server.clock.now.adding(.seconds(30)), for: .seconds(100), marker: 2)
        try await server.store.add(newer, to: hash)
        try await server.serve { _ in
            func certificate() async throws -> String {
                let body = try await server.ask("GET", "/v1/keys/\(hash.base64URL)").body
                return try JSONDecoder().decode(ResolvedKeyDocument.self, from: Data(body)).certificate
            }
            func readCount() -> Int { server.store.reads.load(ordering: .relaxed) }
            let old = try await certificate()
            server.clock.advance(by: .milliseconds(29_999))
            #expect(try await certificate() == old && readCount() == 1)
            server.clock.advance(by: .milliseconds(1))
            let new = try await certificate()
            #expect(new != old && readCount() == 2)
            // The newer certificate is valid until this time, inclusive.
            server.clock.advance(by: .seconds(100))
            #expect(try await certificate() == new && readCount() == 2)
            server.clock.advance(by: .milliseconds(1))
            #expect(try await certificate() == old && readCount() == 3)
            // The clock is set back.
            server.clock.advance(by: .milliseconds(-1))
            #expect(try await certificate() == new && readCount() == 4)
        }
    }

    @Test("An entry that was read before a change is not cached after it")
    func staleFill() async throws {
        let hash = server.addKey()
        let target = "/v1/keys/\(hash.base64URL)"
        let seen = Gate()
        let go = Gate()
        server.store.afterRead.withLock {
            $0 = {
                seen.open(); go.pass()
            }
        }
        try await server.serve { _ in
            async let slow = server.ask("GET", target).status
            try await server.blocking { seen.pass() }
            server.store.afterRead.withLock { $0 = nil }
            try await server.store.move(hash, to: .revoked)
            go.open()
            #expect(try await slow == 200)
            #expect(try await server.ask("GET", target).status == 410)
        }
    }

    @Test("The response to HEAD has the head of the response to GET, and no body")
    func head() async throws {
        let hash = server.addKey()
        try await server.serve { _ in
            let (head, get) = try await server.client { client in
                (
                    try client.ask("HEAD", "/v1/keys/\(hash.base64URL)"),
                    try client.ask("GET", "/v1/keys/\(hash.base64URL)")
                )
            }
            #expect(head.status == 200)
            #expect(head.fields == get.fields)
            #expect(head.body.isEmpty)
            #expect(get.fields["content-length"] == "\(get.body.count)")
        }
    }

    @Test("A private key is exported only on request and with an audit record, and the response is not cached")
    func exportPrivateKey() async throws {
        let key = P256.KeyAgreement.PrivateKey()
        let hash = server.addKey(key: key)
        let target = "/v1/keys/\(hash.base64URL)?include=privateKey"
        try await server.serve { _ in
            let reply = try await server.ask("GET", target)
            #expect(reply.status == 200)
            #expect(reply.fields["cache-control"] == "no-store")
            let document = try JSONDecoder().decode(ResolvedKeyDocument.self, from: Data(reply.body))
            let pem = try #require(document.privateKey)
            #expect(try P256.KeyAgreement.PrivateKey(pemRepresentation: pem).rawRepresentation == key.rawRepresentation)
            let entry = try #require(server.store.audit.first)
            #expect(entry.action == .privateKeyExported)
            #expect(entry.caller.name == "uid:\(getuid())")
            #expect(entry.caller.process?.pid == getpid())
            #expect(entry.requestId == reply.fields["x-request-id"])
            let plain = try await server.ask("GET", "/v1/keys/\(hash.base64URL)").text
            #expect(!plain.contains("privateKey"))
            #expect(try await server.ask("HEAD", target).status == 400)
            #expect(server.store.audit.count == 1)
        }
    }

    @Test(
        "Unknown query parameters and unexpected bodies are refused",
        arguments: [
            "?include=privatekey", "?include", "?include=privateKey&include=privateKey", "?x=1", "?include=privateKey&",
            "?includ%65=privateKey&x",
        ])
    func queries(query: String) async throws {
        let hash = server.addKey()
        try await server.serve { _ in
            let statuses = try await server.client { client in
                [
                    try client.ask("GET", "/v1/keys/\(hash.base64URL)\(query)"),
                    try client.ask("GET", "/v1/health\(query)"),
                    try client.ask("GET", "/v1/keys/\(hash.base64URL)", "{}"),
                ].map(\.status)
            }
            // A valid parameter does not make the rest valid.
            #expect(statuses == [400, 400, 400])
        }
        #expect(server.store.audit.isEmpty)
    }

    @Test("Unknown paths get 404, and unsupported methods get 405 with the allowed methods")
    func routing() async throws {
        try await server.serve { _ in
            for path in ["/", "/v1/keys", "/v1/health/", "/v2/health", "*", "/v1//health"] {
                #expect(try await server.ask("GET", path).status == 404, "\(path)")
            }
            // Plain Base64 with a slash is no single segment of a path.
            let slash = try await server.ask("GET", "/v1/keys/QViU4PCKe1ApuFg4kbQrSbawkD/3T3KFL9pDKfm51io=")
            let problem = try problem(slash)
            #expect(slash.status == 400 && problem.code == "malformed")
            let status = try await server.ask("GET", "/v1/status")
            #expect(status.text.contains("this is the decryptor socket") && status.text.contains("admin.sock"))
            let revoke = try await server.ask("POST", "/v1/keys/abc/revoke")
            #expect(revoke.status == 404 && revoke.text.contains("sockets.admin.path"))
            let card = try await server.ask("POST", "/v1/in-app-provisioning/requests")
            #expect(card.status == 404 && card.text.contains("sockets.issuer.path"))
            let delete = try await server.ask("DELETE", "/v1/keys/abc")
            #expect(delete.status == 405)
            #expect(delete.fields["allow"] == "GET, HEAD")
            let get = try await server.ask("GET", "/v1/payment-tokens/decrypt")
            #expect(get.status == 405)
            #expect(get.fields["allow"] == "POST")
            #expect(try await server.ask("GET", "http://localhost/v1/health").status == 200)
        }
    }

    @Test("Health has the readiness of the daemon and the reasons")
    func health() async throws {
        try await server.serve { _ in
            #expect(try await server.ask("GET", "/v1/health").status == 200)
            server.isReady.withLock { $0 = false }
            let reply = try await server.ask("GET", "/v1/health")
            #expect(reply.status == 503)
            #expect(reply.text == #"{"live":true,"ready":false,"reasons":["the store does not answer"]}"#)
        }
    }
}

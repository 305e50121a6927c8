import Foundation
import Testing
import Vocabulary
import WireAPI

@Suite("merchantkeyctl access")
struct AccessCommandTests {
    private static let token = "mka_1a2b3c4d" + String(repeating: "x", count: 32) + "00aBc9"

    private static func document(
        token: String? = nil, merchants: [MerchantIdentifier]? = ["merchant.com.example"]
    ) throws -> AccessDocument {
        let name = try #require(AccessName(text: "shop-portal"))
        var document = AccessDocument(name, permits: ["onboard"], createdAt: Samples.time)
        document.token = token
        document.merchants = merchants
        document.tokens = [.init("1a2b3c4d", createdAt: Samples.time, expiresAt: nil)]
        document.expiresAt = "2027-02-19T04:53:15Z"
        return document
    }

    private static func body(of request: FakeDaemon.Request) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
    }

    @Test("Create sends the permits and the merchants, and prints the token as JSON")
    func createForMerchants() async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document(token: Self.token), status: 201) }) {
            program, daemon in
            let transcript = try await program.run([
                "--output", "json", "access", "create", "shop-portal", "--permit", "onboard", "--permit", "read",
                "--merchant", "merchant.com.example", "--merchant", "merchant.b", "--socket", daemon.socketPath,
            ])
            #expect(transcript.status == 0 && transcript.error.isEmpty, "\(transcript)")
            let printed = try #require(
                try JSONSerialization.jsonObject(with: Data(transcript.output.utf8)) as? [String: Any])
            #expect(printed["name"] as? String == "shop-portal" && printed["token"] as? String == Self.token)
            #expect(printed["permits"] as? [String] == ["onboard"])
            #expect(printed["merchants"] as? [String] == ["merchant.com.example"])
            #expect(printed["expiresAt"] as? String == "2027-02-19T04:53:15Z")
            let request = try #require(daemon.requests.first)
            #expect(request.method == "POST" && request.target == "/v1/access")
            let body = try Self.body(of: request)
            #expect(body["merchants"] as? [String] == ["merchant.com.example", "merchant.b"])
            #expect(body["permits"] as? [String] == ["onboard", "read"])
            #expect(body["name"] as? String == "shop-portal" && body.count == 3)
        }
    }

    @Test("The table has the token, and standard error says that it is shown only once")
    func createForEveryMerchant() async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document(token: Self.token, merchants: nil), status: 201) }) {
            program, daemon in
            let transcript = try await program.run([
                "access", "create", "shop-portal", "--permit", "onboard", "--all-merchants", "--expires", "90d",
                "--socket", daemon.socketPath,
            ])
            #expect(transcript.status == 0, "\(transcript)")
            #expect(transcript.output.contains("token            \(Self.token)\n"))
            #expect(transcript.output.contains("merchants        all\n"))
            #expect(transcript.output.contains("mka_1a2b3c4d…  2026-11-21 04:53  with the access\n"))
            #expect(transcript.error.hasPrefix("this token is shown only once;"))
            let body = try Self.body(of: try #require(daemon.requests.first))
            #expect(body["allMerchants"] as? Bool == true && body["merchants"] == nil)
            let end = try #require((body["expiresAt"] as? String).flatMap { Timestamp(text: $0) })
            #expect(abs(end.date.timeIntervalSinceNow - 90 * 86_400) < 60)
        }
    }

    @Test("A client certificate is sent as PEM, also if the file is DER; a private key is not sent")
    func clientCertificate() async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document(), status: 201) }) { program, daemon in
            let pem = "-----BEGIN CERTIFICATE-----\nAAECAw==\n-----END CERTIFICATE-----\n"
            let common = [
                "--socket", daemon.socketPath, "access", "create", "shop-portal", "--permit", "onboard",
                "--all-merchants", "--client-certificate",
            ]
            for content in [pem, "\u{0}\u{1}\u{2}\u{3}"] {
                let transcript = try await program.run(common + [try program.write(content, to: "client.crt")])
                #expect(transcript.status == 0 && transcript.error.isEmpty, "\(transcript)")
            }
            let sent = try daemon.requests.map { try Self.body(of: $0)["clientCertificate"] as? String }
            #expect(sent == [pem, pem])
            let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
            let refused = try await program.run(common + [try program.write(pem + key, to: "client.pem")])
            #expect(refused.status == 1 && refused.error.contains("contains a private key"))
            #expect(daemon.requests.count == 2)
        }
    }

    @Test(
        "Missing or invalid arguments are wrong usage, and nothing is sent",
        arguments: [
            ["create", "shop", "--permit", "onboard"], ["create", "shop", "--all-merchants"],
            ["create", "shop", "--permit", "decrypt", "--all-merchants"],
            ["create", "shop", "--permit", "onboard", "--all-merchants", "--merchant", "merchant.a"],
            ["create", "shop", "--permit", "onboard", "--all-merchants", "--expires", "0s"],
            ["create", "shop", "--permit", "onboard", "--all-merchants", "--expires", "3654d"],
            ["create", "a/b", "--permit", "onboard", "--all-merchants"], ["show", ""], ["show"],
            ["rotate", "shop", "--overlap", "1w"], ["revoke"],
        ])
    func wrongUsage(arguments: [String]) async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document()) }) { program, daemon in
            let transcript = try await program.run(["--socket", daemon.socketPath, "access"] + arguments)
            #expect(transcript.status == 2, "\(transcript)")
            #expect(daemon.requests.isEmpty)
        }
    }

    @Test("List, show, rotate and revoke call their routes")
    func routes() async throws {
        try await FakeDaemon.with({ request in
            if request.method == "GET", request.target.hasPrefix("/v1/access?") {
                return try .json(Page(items: [try Self.document()], nextCursor: nil))
            }
            return try .json(Self.document(token: request.target.hasSuffix("/rotate") ? Self.token : nil))
        }) { program, daemon in
            let socket = ["--socket", daemon.socketPath]
            let list = try await program.run(["access", "list"] + socket)
            #expect(
                list.output == """
                    NAME         PERMITS  MERCHANTS  CREATED (UTC)     EXPIRES (UTC)     REVOKED (UTC)  LAST USED (UTC)
                    shop-portal  onboard  1          2026-11-21 04:53  2027-02-19 04:53  -              never

                    """)
            let show = try await program.run(["access", "show", "shop-portal"] + socket)
            #expect(show.status == 0 && show.error.isEmpty && !show.output.contains(Self.token))
            let rotate = try await program.run(["access", "rotate", "shop-portal", "--overlap", "2h"] + socket)
            #expect(rotate.output.contains(Self.token) && rotate.error.hasPrefix("this token is shown only once;"))
            _ = try await program.run(["access", "rotate", "shop-portal"] + socket)
            let revoke = try await program.run(["access", "revoke", "shop-portal"] + socket)
            #expect(revoke.status == 0 && revoke.error.isEmpty, "\(revoke)")
            #expect(
                daemon.requests.map { "\($0.method) \($0.target) \($0.text)" } == [
                    "GET /v1/access?limit=100 ", "GET /v1/access/shop-portal ",
                    #"POST /v1/access/shop-portal/rotate {"overlapSeconds":7200}"#,
                    "POST /v1/access/shop-portal/rotate {}", "POST /v1/access/shop-portal/revoke ",
                ])
        }
    }
}

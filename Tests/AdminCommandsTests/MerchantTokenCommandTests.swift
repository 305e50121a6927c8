import Foundation
import Testing
import Vocabulary
import WireAPI

@Suite("merchantkeyctl merchant-token")
struct MerchantTokenCommandTests {
    private static let identifier = "DSHRMC00002011616b5e5fd+="

    private static func document(state: String = "linked", withEverything: Bool = false) throws
        -> MerchantTokenDocument
    {
        var document = MerchantTokenDocument(
            try #require(MerchantTokenIdentifier(text: identifier)), of: "merchant.com.example", state: state,
            firstSeenAt: Samples.time, lastSeenAt: "2026-11-28T04:53:15Z")
        guard withEverything else { return document }
        document.lastEvent = .init(
            try #require(MerchantTokenEventIdentifier(text: "event-1")), type: "UPDATED_METADATA", reason: "ISSUER",
            receivedAt: "2026-11-28T04:53:15Z")
        var card = MerchantTokenCardDocument()
        card.fpanSuffix = "0492"
        card.shortDescription = "Rewards\u{1B}[2J"
        card.cardArt = [.init(name: "front", type: "image/png", url: "https://cards.example/front.png")]
        document.card = card
        document.notificationUrl = "https://pay.example.com/tokenapi"
        return document
    }

    @Test("List sends its filters, and its table has the requested columns")
    func list() async throws {
        try await FakeDaemon.with({ _ in
            try .json(Page(items: [try Self.document(withEverything: true)], nextCursor: nil))
        }) { program, daemon in
            let list = ["merchant-token", "list", "--socket", daemon.socketPath]
            let all = try await program.run(list)
            #expect(all.status == 0 && all.error.isEmpty, "\(all)")
            #expect(all.output.hasPrefix("TOKEN                      STATE   LAST SEEN (UTC)"), "\(all)")
            #expect(all.output.contains("UPDATED_METADATA  0492"))
            let columns = try await program.run(list + ["--columns", "token,merchant"])
            #expect(columns.output.contains("\(Self.identifier)  merchant.com.example\n"), "\(columns)")
            let json = try await program.run(list + ["merchant.com.example", "--state", "unlinked", "-o", "json"])
            let printed = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            #expect((printed?["items"] as? [Any])?.count == 1)
            #expect(
                daemon.requests.map { "\($0.method) \($0.target)" } == [
                    "GET /v1/merchant-tokens?limit=1000", "GET /v1/merchant-tokens?limit=1000",
                    "GET /v1/merchant-tokens?merchant=merchant%2Ecom%2Eexample&state=unlinked&limit=1000",
                ])
        }
    }

    @Test("Show prints the card's description without control characters, and its art")
    func show() async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document(withEverything: true)) }) { program, daemon in
            let shown = try await program.run([
                "merchant-token", "show", Self.identifier, "--socket", daemon.socketPath,
            ])
            #expect(shown.status == 0 && !shown.output.contains("\u{1B}"), "\(shown)")
            for line in ["card number ends with  0492\n", "reason                 ISSUER\n", "front     image/png"] {
                #expect(shown.output.contains(line), "\(line): \(shown.output)")
            }
            #expect(daemon.requests.first?.target == "/v1/merchant-tokens/\(Self.encoded)")
        }
    }

    private static let encoded = PercentEncoding.encode(identifier)

    @Test("Without a terminal, an unlink without --yes shows what it would do and changes nothing")
    func unlinkUnasked() async throws {
        try await FakeDaemon.with({ request in
            try .json(Self.document(state: request.target.hasSuffix("?dryRun=true") ? "linked" : "unlinked"))
        }) { program, daemon in
            let unlink = ["merchant-token", "unlink", Self.identifier, "--socket", daemon.socketPath]
            let unasked = try await program.run(unlink)
            #expect(unasked.status == 1 && unasked.error.contains("--yes"), "\(unasked)")
            let dry = try await program.run(unlink + ["--dry-run"])
            #expect(dry.status == 0 && dry.output.contains("state             linked\n"), "\(dry)")
            #expect(dry.error == "would unlink \(Self.identifier), a token of merchant.com.example\n")
            #expect(daemon.requests.allSatisfy { $0.target.hasSuffix("?dryRun=true") })
            let done = try await program.run(unlink + ["--yes"])
            #expect(done.status == 0 && done.output.contains("state             unlinked\n"), "\(done)")
            #expect(daemon.requests.count == 3)
            #expect(daemon.requests.last?.target == "/v1/merchant-tokens/\(Self.encoded)/unlink")
        }
    }

    @Test("On a terminal, only the answer yes unlinks", arguments: [("yes\n", 0), ("y\n", 1)] as [(String, Int32)])
    func unlinkAsked(answer: String, status: Int32) async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document()) }) { program, daemon in
            let transcript = try await program.run(
                ["merchant-token", "unlink", Self.identifier, "--socket", daemon.socketPath], input: .terminal(answer))
            #expect(transcript.status == status, "\(transcript)")
            #expect(daemon.requests.count == (status == 0 ? 2 : 1))
        }
    }

    @Test("The subcommands for one token call their routes")
    func routes() async throws {
        try await FakeDaemon.with({ request in
            guard request.target.hasSuffix("/public-key") else { return try .json(Self.document()) }
            let identifier = try #require(MerchantTokenIdentifier(text: Self.identifier))
            return try .json(MerchantTokenPublicKeyDocument(identifier, publicKey: "BAAA", ciphersuite: "HPKE"))
        }) { program, daemon in
            let socket = ["--socket", daemon.socketPath]
            let url = "https://pay.example.com/tokenapi"
            let set = try await program.run(
                ["merchant-token", "set-notification-url", Self.identifier, url] + socket)
            #expect(set.status == 0, "\(set)")
            let key = try await program.run(["merchant-token", "public-key", Self.identifier] + socket)
            #expect(key.output.contains("public key   BAAA\n"), "\(key)")
            #expect(try await program.run(["merchant-token", "notify", Self.identifier] + socket).status == 0)
            #expect(
                daemon.requests.map { "\($0.method) \($0.target) \($0.text)" } == [
                    "PUT /v1/merchant-tokens/\(Self.encoded)/notification-url {\"notificationUrl\":\"\(url)\"}",
                    "GET /v1/merchant-tokens/\(Self.encoded)/public-key ",
                    "POST /v1/merchant-tokens/\(Self.encoded)/notify ",
                ])
        }
    }

    @Test("notification-url lists the URLs, and creates one only with --new")
    func notificationURL() async throws {
        let url = "https://pay.example.com/tokenapi/\(String(repeating: "a", count: 32))"
        try await FakeDaemon.with({ request in
            let document = TokenNotificationURLDocument(url, for: "merchant.com.example", createdAt: Samples.time)
            return request.method == "POST"
                ? try .json(document, status: 201) : try .json(Page(items: [document], nextCursor: nil))
        }) { program, daemon in
            let command = ["merchant-token", "notification-url", "merchant.com.example", "--socket", daemon.socketPath]
            let listed = try await program.run(command)
            #expect(listed.status == 0 && listed.output.contains("\n\(url)  2026-11-21 04:53\n"), "\(listed)")
            let created = try await program.run(command + ["--new"])
            #expect(created.status == 0 && created.output.contains("url            \(url)\n"), "\(created)")
            // As in every command, a list has 'items', and a created object is printed alone.
            let listedJSON = try await program.run(command + ["--output", "json"])
            #expect(try Self.json(listedJSON.output)["items"] is [Any], "\(listedJSON)")
            let createdJSON = try await program.run(command + ["--new", "--output", "json"])
            #expect(try Self.json(createdJSON.output)["url"] as? String == url, "\(createdJSON)")
            let path = "/v1/merchants/merchant.com.example/token-notification-urls"
            let requests = daemon.requests.map { "\($0.method) \($0.target)" }
            #expect(requests == ["GET \(path)", "POST \(path)", "GET \(path)", "POST \(path)"])
        }
    }

    private static func json(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test(
        "Invalid arguments are wrong usage, and nothing is sent",
        arguments: [
            ["list", "example"], ["list", "--state", "closed"], ["show"], ["show", "a b"], ["unlink", ""],
            ["show", String(repeating: "a", count: 65)], ["set-notification-url", "token"],
            ["notification-url", "example"],
        ])
    func wrongUsage(arguments: [String]) async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document()) }) { program, daemon in
            let transcript = try await program.run(["--socket", daemon.socketPath, "merchant-token"] + arguments)
            #expect(transcript.status == 2, "\(transcript)")
            #expect(daemon.requests.isEmpty)
        }
    }
}

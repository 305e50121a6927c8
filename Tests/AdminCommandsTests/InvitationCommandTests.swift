import Foundation
import Testing
import Vocabulary
import WireAPI

@Suite("merchantkeyctl invite and console")
struct InvitationCommandTests {
    private static let url = "https://pay.example:8443/invitations/mki_1a2b3c4d" + String(repeating: "x", count: 38)

    private static func document(url: String? = nil) throws -> InvitationDocument {
        let identifier = try #require(InvitationIdentifier(text: "0123456789abcdef"))
        var document = InvitationDocument(
            identifier, of: "merchant.com.example", createdBy: "uid:1000", createdAt: Samples.time,
            expiresAt: "2026-11-28T04:53:15Z")
        document.url = url
        document.note = "Jo\u{1B}[2J"
        return document
    }

    @Test("Create sends the expiry and the note, and prints the link as JSON")
    func create() async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document(url: Self.url), status: 201) }) { program, daemon in
            let transcript = try await program.run([
                "--output", "json", "invite", "create", "merchant.com.example", "--expires", "2d", "--note", "Jo",
                "--socket", daemon.socketPath,
            ])
            #expect(transcript.status == 0 && transcript.error.isEmpty, "\(transcript)")
            let printed = try #require(
                try JSONSerialization.jsonObject(with: Data(transcript.output.utf8)) as? [String: Any])
            #expect(printed["invitationId"] as? String == "0123456789abcdef" && printed["url"] as? String == Self.url)
            #expect(printed["expiresAt"] as? String == "2026-11-28T04:53:15Z")
            let request = try #require(daemon.requests.first)
            #expect(request.method == "POST" && request.target == "/v1/invitations")
            let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: String])
            #expect(body["merchantIdentifier"] == "merchant.com.example" && body["note"] == "Jo" && body.count == 3)
            let end = try #require(body["expiresAt"].flatMap { Timestamp(text: $0) })
            #expect(abs(end.date.timeIntervalSinceNow - 2 * 86_400) < 60)
        }
    }

    @Test("The table has the link, and standard error says that it is shown only once")
    func createAsTable() async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document(url: Self.url), status: 201) }) { program, daemon in
            let transcript = try await program.run([
                "invite", "create", "merchant.com.example", "--socket", daemon.socketPath,
            ])
            #expect(transcript.output.contains("link           \(Self.url)\n") && !transcript.output.contains("\u{1B}"))
            #expect(transcript.error == "this link is shown only once; it can be used for one sign-in\n")
            #expect(daemon.requests.first?.text == #"{"merchantIdentifier":"merchant.com.example"}"#)
        }
    }

    @Test("List and revoke call their routes")
    func routes() async throws {
        try await FakeDaemon.with({ request in
            request.method == "GET"
                ? try .json(Page(items: [try Self.document()], nextCursor: nil)) : try .json(Self.document())
        }) { program, daemon in
            let socket = ["--socket", daemon.socketPath]
            let all = try await program.run(["invite", "list"] + socket)
            #expect(all.output.hasPrefix("INVITATION        MERCHANT              CREATED (UTC)"), "\(all)")
            _ = try await program.run(["invite", "list", "merchant.com.example"] + socket)
            let revoke = try await program.run(["invite", "revoke", "0123456789abcdef"] + socket)
            #expect(revoke.status == 0 && revoke.error.isEmpty, "\(revoke)")
            #expect(
                daemon.requests.map { "\($0.method) \($0.target)" } == [
                    "GET /v1/invitations?limit=1000",
                    "GET /v1/invitations?merchant=merchant%2Ecom%2Eexample&limit=1000",
                    "POST /v1/invitations/0123456789abcdef/revoke",
                ])
        }
    }

    @Test(
        "Invalid arguments are wrong usage, and nothing is sent",
        arguments: [
            ["create"], ["create", "example"], ["create", "merchant.a", "--expires", "soon"],
            ["create", "merchant.a", "--expires", "0s"], ["create", "merchant.a", "--expires", "31d"],
            ["create", "merchant.a", "--expires", "2592001s"], ["revoke", "0123"], ["revoke", "0123456789ABCDEF"],
            ["list", "example"],
        ])
    func wrongUsage(arguments: [String]) async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document()) }) { program, daemon in
            let transcript = try await program.run(["--socket", daemon.socketPath, "invite"] + arguments)
            #expect(transcript.status == 2, "\(transcript)")
            #expect(daemon.requests.isEmpty)
        }
    }

    @Test("A lifetime above the limit is refused with the option and the limit in days")
    func lifetimeAboveLimit() async throws {
        try await FakeDaemon.with({ _ in try .json(Self.document(), status: 201) }) { program, daemon in
            let create = ["--socket", daemon.socketPath, "invite", "create", "merchant.com.example", "--expires"]
            let refused = try await program.run(create + ["31d"])
            for part in ["31d", "--expires", "30d"] { #expect(refused.error.contains(part), "\(refused)") }
            #expect(try await program.run(create + ["30d"]).status == 0)
        }
    }

    @Test("console prints only the link to standard output")
    func console() async throws {
        let link = "https://pay.example:8443/login/mkl_1a2b3c4d" + String(repeating: "x", count: 38)
        try await FakeDaemon.with({ _ in
            try .json(OperatorLoginDocument(url: link, expiresAt: "2026-11-21T04:54:15Z"), status: 201)
        }) { program, daemon in
            let table = try await program.run(["console", "--socket", daemon.socketPath])
            #expect(
                table
                    == .init(
                        status: 0, output: "\(link)\n",
                        error: "open this link within 60 seconds; it can be used for one sign-in\n"))
            let json = try await program.run(["--output", "json", "console", "--socket", daemon.socketPath])
            let printed = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: String]
            #expect(printed?["url"] == link && json.error.isEmpty)
            let requests = daemon.requests.map { "\($0.method) \($0.target) \($0.text)" }
            #expect(requests == ["POST /v1/operator-logins ", "POST /v1/operator-logins "])
        }
    }

    @Test(
        "console --end-sessions ends the sessions of the caller, of one user or of all users",
        arguments: [
            ([], "", "only your own sessions and links ended; use --uid or --all-users to end those of other users\n"),
            (["--uid", "1000"], "?uid=1000", ""), (["--all-users"], "?allUsers=true", ""),
        ] as [([String], String, String)])
    func endSessions(arguments: [String], query: String, note: String) async throws {
        try await FakeDaemon.with({ _ in
            try .json(EndedOperatorSessionsDocument(sessionsEnded: 2, linksEnded: 1))
        }) { program, daemon in
            let console = ["console", "--end-sessions", "--socket", daemon.socketPath] + arguments
            let table = try await program.run(console)
            #expect(
                table == .init(status: 0, output: "sessions ended        2\nunused links revoked  1\n", error: note))
            let json = try await program.run(["--output", "json"] + console)
            let printed = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Int]
            #expect(printed == ["sessionsEnded": 2, "linksEnded": 1] && json.error.isEmpty)
            let requests = daemon.requests.map { "\($0.method) \($0.target)" }
            #expect(requests == Array(repeating: "DELETE /v1/operator-sessions\(query)", count: 2))
        }
    }

    @Test(
        "a selection of users without --end-sessions, or an invalid one, is wrong usage",
        arguments: [
            ["--uid", "1000"], ["--all-users"], ["--end-sessions", "--uid", "1000", "--all-users"],
            ["--end-sessions", "--uid", "jo"], ["--end-sessions", "--uid", "-1"],
        ])
    func wrongSelection(arguments: [String]) async throws {
        try await FakeDaemon.with({ _ in .problem(500, "internalError", "") }) { program, daemon in
            let transcript = try await program.run(["--socket", daemon.socketPath, "console"] + arguments)
            #expect(transcript.status == 2, "\(transcript)")
            #expect(daemon.requests.isEmpty)
        }
    }

    @Test("Without a portal, the refusal is printed")
    func withoutPortal() async throws {
        try await FakeDaemon.with({ _ in .problem(409, "portalNotConfigured", "portal.listen is not set") }) {
            program, daemon in
            let transcript = try await program.run(["console", "--socket", daemon.socketPath])
            #expect(transcript.status == 1 && transcript.output.isEmpty)
            #expect(transcript.error == "refused: portalNotConfigured: portal.listen is not set (request r-1)\n")
        }
    }
}

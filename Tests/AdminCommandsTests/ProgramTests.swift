import Foundation
import Testing
import Vocabulary
import WireAPI

/// The exit status and the outputs of the real program, with a fake daemon or without a daemon.
@Suite("merchantkeyctl")
struct ProgramTests {
    @Test("Without a daemon, the exit status is 3, and the error names the socket's path")
    func unreachable() async throws {
        let program = try Program()
        defer { program.remove() }
        let transcript = try await program.run(["merchant", "list"])
        #expect(transcript.status == 3)
        #expect(transcript.output.isEmpty)
        #expect(
            transcript.error.contains(
                "\(program.directory)/.local/state/merchantkeyd/admin.sock: there is no such socket"))
    }

    @Test("A socket without a listener is exit status 3")
    func refusedConnection() async throws {
        try await FakeDaemon.with({ _ in throw CancellationError() }) { program, daemon in
            let path = daemon.socketPath
            try FileManager.default.moveItem(atPath: path, toPath: path + "2")
            daemon.stop()
            let transcript = try await program.run(["--socket", path + "2", "status"])
            #expect(transcript.status == 3)
            #expect(transcript.error.contains("no process listens"))
        }
    }

    @Test(
        "Wrong usage is exit status 2 (status --check: 3), explained on standard error",
        arguments: [
            [], ["merchant"], ["frobnicate"], ["merchant", "frobnicate"], ["merchant", "show", "no-identifier"],
            ["key", "revoke", "abcd"], ["key", "show", "abc"], ["--output", "xml", "merchant", "list"],
            ["key", "generate", "merchant.a", "--algorithm", "EC_v2"], ["key", "destroy", "abcd", "--after", "1w"],
            ["audit", "list", "--limit", "0"], ["token", "decrypt", "f", "--unverified", "--claim"],
            ["token", "decrypt", "f", "--claim", "--at", "2026-11-21T04:53:15Z"],
            ["key", "import", "merchant.a", "--private-key", "-", "--certificate", "-"],
        ])
    func wrongUsage(arguments: [String]) async throws {
        let program = try Program()
        defer { program.remove() }
        let transcript = try await program.run(arguments)
        #expect(transcript.status == 2)
        #expect(transcript.output.isEmpty)
        #expect(!transcript.error.isEmpty)
    }

    @Test(
        "Help is a result: exit status 0, on standard output",
        arguments: [["--help"], ["key", "-h"], ["help", "key", "revoke"]])
    func help(arguments: [String]) async throws {
        let program = try Program()
        defer { program.remove() }
        let transcript = try await program.run(arguments)
        #expect(transcript.status == 0)
        #expect(transcript.output.contains("USAGE: merchantkeyctl"))
        #expect(transcript.error.isEmpty)
    }

    @Test("A problem document is exit status 1 (status --check: 3), with its code and detail on standard error")
    func problem() async throws {
        try await FakeDaemon.with({ _ in .problem(404, "merchantNotFound", "merchant merchant.a is not known") }) {
            program, daemon in
            let transcript = try await program.run(["--socket", daemon.socketPath, "merchant", "show", "merchant.a"])
            #expect(
                transcript
                    == .init(
                        status: 1, output: "",
                        error: "refused: merchantNotFound: merchant merchant.a is not known (request r-1)\n"))
        }
    }

    @Test("A response that violates the contract is exit status 1", arguments: ["<html>", "[]", "{}", ""])
    func nonsense(body: String) async throws {
        try await FakeDaemon.with({ _ in .text(body) }) { program, daemon in
            let transcript = try await program.run(["merchant", "show", "merchant.a", "--socket", daemon.socketPath])
            #expect(transcript.status == 1)
            #expect(transcript.error.contains("the daemon's response can't be read"))
        }
    }

    @Test("The global options may stand before the noun, after the subcommand, or in the environment")
    func placement() async throws {
        try await FakeDaemon.with({ _ in try .json(Page(items: [Samples.merchant()], nextCursor: nil)) }) {
            program, daemon in
            let socket = daemon.socketPath
            let expected = """
                MERCHANT              NAME     ACTIVE  TARGET  ADDED (UTC)       BACKED UP
                merchant.com.example  Example  1       2       2026-11-21 04:53  -

                """
            for arguments in [
                ["--socket", socket, "merchant", "list"], ["merchant", "list", "--socket", socket],
                ["--socket=\(socket)", "--output", "table", "merchant", "list"],
            ] {
                let transcript = try await program.run(arguments)
                #expect(transcript == .init(status: 0, output: expected, error: ""))
            }
            let byEnvironment = try await program.run(
                ["merchant", "list"], environment: ["MERCHANTKEYD_SOCKET": socket])
            #expect(byEnvironment == .init(status: 0, output: expected, error: ""))
            for arguments in [
                ["--output", "json", "merchant", "list", "--socket", socket],
                ["--socket", socket, "merchant", "--output", "json", "list"],
                ["merchant", "list", "--socket", socket, "--output=json"],
            ] {
                let transcript = try await program.run(arguments)
                #expect(transcript.status == 0)
                #expect(transcript.output.hasPrefix("{\n  \"items\": [\n    {\n      \"activeKeyPairs\": 1,\n"))
            }
        }
    }

    @Test("A list follows its pages, and is one JSON value with all fields, also unknown ones")
    func pages() async throws {
        let hash = String(repeating: "ab", count: 32)
        try await FakeDaemon.with({ request in
            .text(
                request.target.contains("cursor=x%2F1")
                    ? #"{"items":[{"merchantIdentifier":"merchant.b","merchantIdentifierHash":"\#(hash)","targetActiveKeyPairs":2,"activeKeyPairs":2,"createdAt":"2026-11-21T04:53:15Z"}]}"#
                    : #"{"items":[{"merchantIdentifier":"merchant.a","merchantIdentifierHash":"\#(hash)","targetActiveKeyPairs":2,"activeKeyPairs":2,"createdAt":"2026-11-21T04:53:15Z","new":1.50}],"nextCursor":"x/1"}"#
            )
        }) { program, daemon in
            let transcript = try await program.run(
                ["merchant", "list", "--output", "json"], environment: ["MERCHANTKEYD_SOCKET": daemon.socketPath])
            #expect(transcript.output.contains("\"merchant.a\""))
            #expect(transcript.output.contains("\"merchant.b\""))
            #expect(transcript.output.contains("\"new\": 1.50"))
            #expect(try JSONSerialization.jsonObject(with: Data(transcript.output.utf8)) is [String: Any])
            #expect(
                daemon.requests.map(\.target) == ["/v1/merchants?limit=1000", "/v1/merchants?limit=1000&cursor=x%2F1"])
        }
    }

    @Test("A list whose pages never end is refused")
    func endlessPages() async throws {
        try await FakeDaemon.with({ _ in try .json(Page(items: [MerchantDocument](), nextCursor: "x")) }) {
            program, daemon in
            let transcript = try await program.run(["merchant", "list", "--socket", daemon.socketPath])
            #expect(transcript.status == 1)
        }
    }

    @Test(
        "status --check exits with 0, 1 or 2 for OK, warning or critical, as monitoring plugins do",
        arguments: [([], 0), (["notice"], 0), (["warning"], 1), (["critical"], 2)] as [([String], Int32)])
    func statusCheck(severities: [String], status: Int32) async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.status(severities)) }) { program, daemon in
            let transcript = try await program.run(["status", "--check", "--socket", daemon.socketPath])
            #expect(transcript.status == status)
            #expect(transcript.output.split(separator: "\n").count == 1)
        }
    }

    @Test("status --check reports UNKNOWN with exit status 3 if the daemon refuses or can't be reached")
    func statusUnknown() async throws {
        try await FakeDaemon.with({ _ in .problem(403, "forbidden", "no") }) { program, daemon in
            for socket in [daemon.socketPath, "/tmp/there-is-no-such-socket"] {
                let transcript = try await program.run(["status", "--check", "--socket", socket])
                #expect(transcript.status == 3)
                #expect(transcript.output.hasPrefix("merchantkeyd UNKNOWN: "))
            }
        }
    }
}

import Foundation
import Testing
import Vocabulary
import WireAPI

/// Errors with `--output json`, and `--quiet`.
@Suite struct ErrorOutputTests {
    private static func error(_ transcript: Program.Transcript) throws -> [String: any Sendable] {
        let lines = transcript.error.split(separator: "\n")
        let last = try #require(lines.last, "\(transcript)")
        let document = try JSONSerialization.jsonObject(with: Data(last.utf8)) as? [String: any Sendable]
        return try #require(document?["error"] as? [String: any Sendable], "\(transcript)")
    }

    @Test(arguments: [["--output", "json"], ["--output=json"]])
    func `a refusal is one JSON object on standard error with the daemon's code`(output: [String]) async throws {
        try await FakeDaemon.with({ _ in
            var reply = FakeDaemon.Reply.problem(429, "overloaded", "too \\\"many\\\"")
            reply.retryAfter = 7
            return reply
        }) { program, daemon in
            let transcript = try await program.run(
                ["merchant", "show", "merchant.a", "--socket", daemon.socketPath] + output)
            #expect(transcript.status == 1 && transcript.output.isEmpty)
            #expect(
                transcript.error
                    == #"{"error":{"code":"overloaded","detail":"too \"many\"","exitStatus":1,"httpStatus":429,"requestId":"r-1","retryAfter":7}}"#
                    + "\n")
        }
    }

    @Test func `other errors have the same shape, with a code for each exit status`() async throws {
        let program = try Program()
        defer { program.remove() }
        for (arguments, status, code) in [
            (["merchant", "list"], 3, "unreachable"), (["merchant", "show", "x"], 2, "wrongUsage"),
            (["merchant"], 2, "wrongUsage"), (["frobnicate"], 2, "wrongUsage"),
            (["certificate", "upload", "missing.cer"], 1, "failed"), (["status", "--check"], 3, "unreachable"),
        ] as [([String], Int32, String)] {
            let transcript = try await program.run(["--output", "json"] + arguments)
            #expect(transcript.status == status && transcript.output.isEmpty, "\(transcript)")
            let error = try Self.error(transcript)
            #expect(error["code"] as? String == code && error["exitStatus"] as? Int == Int(status), "\(transcript)")
            let detail = error["detail"] as? String ?? ""
            #expect(!detail.isEmpty && !detail.contains("merchantkeyctl: "), "\(transcript)")
        }
    }

    @Test func `an error after a result keeps the result on standard output`() async throws {
        try await FakeDaemon.with({ _ in
            try .json(
                DomainCheckDocument(
                    "x.example", address: nil, findings: [.init(kind: "redirected", detail: "found 301")]))
        }) { program, daemon in
            let transcript = try await program.run([
                "domain", "check", "x.example", "--output", "json", "--socket", daemon.socketPath,
            ])
            #expect(transcript.status == 1)
            #expect(try JSONSerialization.jsonObject(with: Data(transcript.output.utf8)) is [String: Any])
            #expect(try Self.error(transcript)["code"] as? String == "failed")
        }
    }

    @Test func `--quiet suppresses warnings, but not results and errors`() async throws {
        try await FakeDaemon.with({ request in
            request.method == "POST"
                ? try .json(Samples.transition(dryRun: false, from: .standby, to: .current))
                : .problem(404, "keyNotFound", "no")
        }) { program, daemon in
            let socket = ["--socket", daemon.socketPath]
            let loud = try await program.run(["key", "promote", Samples.hash] + socket)
            #expect(loud.error == "warning: one active key is left\n")
            for option in ["--quiet", "-q"] {
                let quiet = try await program.run(["key", "promote", Samples.hash, option] + socket)
                #expect(quiet.status == 0 && quiet.error.isEmpty && quiet.output == loud.output)
            }
            let failed = try await program.run(["-q", "key", "show", Samples.hash] + socket)
            #expect(failed.status == 1 && failed.error.contains("keyNotFound"))
        }
    }

    @Test func `the plan that a user must confirm is also printed with --quiet`() async throws {
        try await FakeDaemon.with({ request in
            try .json(Samples.transition(dryRun: request.text.contains(#""dryRun":true"#)))
        }) { program, daemon in
            let asked = try await program.run(
                ["key", "revoke", Samples.hash, "--reason", "r", "--quiet", "--socket", daemon.socketPath])
            #expect(asked.status == 1 && asked.error.contains("would move") && asked.error.contains("one active key"))
        }
    }
}

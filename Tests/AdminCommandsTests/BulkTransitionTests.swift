import Foundation
import Synchronization
import Testing
import Vocabulary
import WireAPI

/// `roll finish --all-quiet` and `key promote` with several keys.
@Suite struct BulkTransitionTests {
    private static func roll(_ number: Int, state: String = "quiet", _ algorithm: KeyAlgorithm = .ecV1) -> RollDocument
    {
        RollDocument(
            "\(number)", of: .init(stringLiteral: "merchant.m\(number)"), algorithm: algorithm,
            to: .init(stringLiteral: Samples.hash), startedAt: Samples.time, state: state, since: Samples.time,
            waitingFor: "admin")
    }

    private static func results(_ program: Program, _ name: String) throws -> [String: String] {
        let lines = try String(contentsOfFile: program.path(name), encoding: .utf8).split(separator: "\n").dropFirst()
        let records = try lines.map { line in
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        }
        return Dictionary(
            records.map { ($0["item"] as? String ?? "", $0["outcome"] as? String ?? "") }, uniquingKeysWith: { $1 })
    }

    @Test func `every quiet roll is finished, after a confirmation, and a refusal stops no other roll`() async throws {
        try await FakeDaemon.with({ request in
            guard request.method == "POST" else {
                return try .json(Page(items: [Self.roll(1), Self.roll(2, .rsaV1), Self.roll(3)], nextCursor: nil))
            }
            return request.target == "/v1/rolls/3/finish"
                ? .problem(422, "rollNotQuiet", "the old key was requested")
                : try .json(Self.roll(1, state: "finished"))
        }) { program, daemon in
            let finish = ["roll", "finish", "--all-quiet", "--socket", daemon.socketPath]
            let dry = try await program.run(finish + ["--dry-run"])
            #expect(
                dry.status == 0 && dry.output.contains("merchant.m2") && dry.error.contains("finish 3 rolls"), "\(dry)")
            #expect(try await program.run(finish).status == 1, "without a terminal it needs --yes")
            #expect(daemon.requests.allSatisfy { $0.method == "GET" })
            let run = try await program.run(finish + ["--yes", "--reason", "quiet"])
            #expect(run.status == 1, "\(run)")
            let posts = daemon.requests.filter { $0.method == "POST" }
            #expect(Set(posts.map(\.target)) == ["/v1/rolls/1/finish", "/v1/rolls/2/finish", "/v1/rolls/3/finish"])
            #expect(posts.allSatisfy { $0.text.contains(#""now":false"#) && $0.text.contains(#""reason":"quiet""#) })
            #expect(
                try Self.results(program, "roll-finish.report.jsonl") == [
                    "merchant.m1 EC_v1": "done", "merchant.m2 RSA_v1": "done", "merchant.m3 EC_v1": "failed",
                ])
            let before = daemon.requests.count
            let rsa = try await program.run(finish + ["--yes", "--algorithm", "RSA_v1", "--report", program.path("r")])
            #expect(rsa.status == 0, "\(rsa)")
            #expect(
                daemon.requests.dropFirst(before).filter { $0.method == "POST" }.map(\.target) == ["/v1/rolls/2/finish"]
            )
            for wrong in [["--now", "--reason", "x"], ["merchant.a"]] {
                #expect(try await program.run(finish + wrong).status == 2)
            }
            #expect(try await program.run(["roll", "finish"]).status == 2)
        }
    }

    @Test func `a roll whose response was lost counts as finished if the daemon shows it as finished`() async throws {
        let losses = Mutex(1)
        try await FakeDaemon.with({ request in
            guard request.method == "POST" else {
                return request.target == "/v1/rolls/1"
                    ? try .json(Self.roll(1, state: "finished"))
                    : try .json(Page(items: [Self.roll(1)], nextCursor: nil))
            }
            var reply = FakeDaemon.Reply.problem(409, "rollEnded", "the roll has ended")
            reply.isLost = losses.withLock { losses in
                losses -= 1
                return losses >= 0
            }
            return reply
        }) { program, daemon in
            let run = try await program.run(["roll", "finish", "--all-quiet", "--yes", "--socket", daemon.socketPath])
            #expect(run.status == 0 && daemon.requests.count { $0.method == "POST" } == 2, "\(run)")
        }
    }

    @Test func `several keys are promoted, from the command line or from a file`() async throws {
        try await FakeDaemon.with({ request in
            if request.target.contains(Samples.otherHashInPath) {
                return .problem(409, "stateConflict", "it is revoked")
            }
            return try .json(
                Samples.transition(dryRun: request.text.contains(#""dryRun":true"#), from: .standby, to: .current))
        }) { program, daemon in
            let promote = ["key", "promote", "--socket", daemon.socketPath]
            let promotion = try await program.run(promote + [Samples.hash, Samples.otherHash])
            #expect(promotion.status == 1 && promotion.output.contains("stateConflict"), "\(promotion)")
            #expect(
                try Self.results(program, "key-promote.report.jsonl") == [
                    Samples.hash: "done", Samples.otherHash: "failed",
                ])
            let file = try program.write(
                "# activated\nPUBLIC KEY HASH  STATE\n\(Samples.hash)  standby EC_v1\n\n", to: "keys")
            let before = daemon.requests.count
            let dry = try await program.run(promote + ["--keys-file", file, "--dry-run"])
            #expect(dry.status == 0 && dry.output.contains("WOULD BE"), "\(dry)")
            #expect(daemon.requests.dropFirst(before).map { $0.text.contains(#""dryRun":true"#) } == [true])
            #expect(try await program.run(promote + ["--keys-file", file, "--report", program.path("r")]).status == 0)
            let wrong = try program.write("\(Samples.hash)\nno key\n", to: "wrong")
            let count = daemon.requests.count
            let refused = try await program.run(promote + ["--keys-file", wrong])
            #expect(refused.status == 1 && refused.error.contains("line 2: 'no' is not a key"), "\(refused)")
            #expect(daemon.requests.count == count)
            #expect(try await program.run(promote).status == 2)
            #expect(try await program.run(promote + [Samples.hash, "--keys-file", file]).status == 2)
        }
    }
}

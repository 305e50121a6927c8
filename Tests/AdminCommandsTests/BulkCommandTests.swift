import Foundation
import Synchronization
import Testing
import Vocabulary
import WireAPI

@Suite("merchantkeyctl, bulk operations")
struct BulkCommandTests {
    /// Runs `body` with a daemon whose status has no findings and whose other replies come from `answer`.
    private static func with(
        _ answer: @escaping @Sendable (FakeDaemon.Request) throws -> FakeDaemon.Reply,
        _ body: (Program, FakeDaemon) async throws -> Void
    ) async throws {
        try await FakeDaemon.with(
            { request in request.target == "/v1/status" ? try .json(Samples.status([])) : try answer(request) }, body)
    }

    private static func report(_ program: Program, _ name: String) throws -> [[String: String]] {
        try String(contentsOfFile: program.path(name), encoding: .utf8).split(separator: "\n").map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            return object.compactMapValues { $0 as? String }
        }
    }

    /// The lines of the report after its header.
    private static func results(_ program: Program, _ name: String) throws -> [[String: String]] {
        let lines = try report(program, name)
        #expect(lines.first?["report"] == "merchantkeyctl bulk operation", "a header comes first")
        return Array(lines.dropFirst())
    }

    private static func header(_ subcommand: String) -> String {
        #"{"report":"merchantkeyctl bulk operation","subcommand":"\#(subcommand)","version":1}"#
    }

    /// Refuses merchants whose identifier contains `bad`, and adds the others.
    private static func answer(_ request: FakeDaemon.Request) throws -> FakeDaemon.Reply {
        let body = try JSONDecoder().decode(AddMerchant.self, from: Data(request.body))
        if body.merchantIdentifier.contains("bad") { return .problem(409, "merchantExists", "it has another name") }
        return try .json(Samples.merchant(.init(stringLiteral: body.merchantIdentifier), name: nil))
    }

    private struct AddMerchant: Decodable { let merchantIdentifier: String }

    @Test("merchant import reports each line, and exits with 1 if one failed; a second run sends every line again")
    func resumed() async throws {
        let known = Mutex(Set<String>())
        try await Self.with({ request in
            let body = try JSONDecoder().decode(AddMerchant.self, from: Data(request.body))
            let isNew = known.withLock { $0.insert(body.merchantIdentifier).inserted }
            guard !isNew, !body.merchantIdentifier.contains("bad") else { return try Self.answer(request) }
            return try .json(
                Samples.merchant(
                    .init(stringLiteral: body.merchantIdentifier), name: nil, createdAt: "2026-11-21T04:00:00Z"))
        }) { program, daemon in
            let file = try program.write(
                "merchantIdentifier\nmerchant.a\nmerchant.bad\nmerchant.c\n", to: "m.csv")
            let first = try await program.run(["merchant", "import", file, "--socket", daemon.socketPath])
            #expect(first.status == 1 && first.output.contains("failed      1"), "\(first)")
            #expect(first.output.contains("line 3") && first.output.contains("merchantExists"))
            #expect(!first.error.contains("\r"), "a progress bar without a terminal")
            let lines = try Self.results(program, "m.csv.report.jsonl")
            #expect(
                Set(lines.map { "\($0["item"] ?? "") \($0["outcome"] ?? "") \($0["place"] ?? "")" }) == [
                    "merchant.a done line 2", "merchant.bad failed line 3", "merchant.c done line 4",
                ])
            let before = daemon.requests.count
            let second = try await program.run(["merchant", "import", file, "--socket", daemon.socketPath])
            #expect(second.status == 1 && second.output.contains("skipped     2"), "\(second.output)")
            #expect(daemon.requests.dropFirst(before).count { $0.method == "POST" } == 3)
            // A line that changed is another item.
            _ = try program.write("merchantIdentifier,name\nmerchant.a,New\nmerchant.c,\n", to: "m.csv")
            let third = try await program.run([
                "merchant", "import", file, "--output", "json", "--socket", daemon.socketPath,
            ])
            #expect(third.status == 0 && third.output.contains(#""skipped": 1"#), "\(third)")
        }
    }

    @Test("A file with an error is refused as a whole, and nothing is sent; with --dry-run nothing is sent either")
    func refused() async throws {
        try await Self.with(Self.answer) { program, daemon in
            let file = try program.write("merchantIdentifier\nmerchant.a\nshop\n", to: "m.csv")
            let run = try await program.run(["merchant", "import", file, "--socket", daemon.socketPath])
            #expect(
                run.status == 1 && run.error.contains("line 3: 'shop' is not a merchant identifier"), "\(run.error)")
            let good = try program.write("merchantIdentifier\nmerchant.a\n", to: "g.csv")
            let dry = try await program.run(["merchant", "import", good, "--dry-run", "--socket", daemon.socketPath])
            #expect(dry.status == 0 && dry.error == "would import 1 merchant\n")
            let json = try await program.run([
                "merchant", "import", good, "--dry-run", "--output", "json", "--socket", daemon.socketPath,
            ])
            let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
            #expect(document?["dryRun"] as? Bool == true && document?["items"] as? Int == 1 && json.error.isEmpty)
            #expect(daemon.requests.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: program.path("g.csv.report.jsonl")))
            #expect(try await program.run(["merchant", "import", good, "--csr-directory", "d"]).status == 2)
            #expect(try await program.run(["merchant", "import", good, "--concurrency", "0"]).status == 2)
        }
    }

    @Test(
        "Another subcommand's report and a damaged one are refused; an incomplete last line is removed")
    func reports() async throws {
        try await Self.with(Self.answer) { program, daemon in
            let file = try program.write("merchantIdentifier\nmerchant.a\nmerchant.b\n", to: "m.csv")
            func run() async throws -> Program.Transcript {
                try await program.run(["merchant", "import", file, "--report", "r", "--socket", daemon.socketPath])
            }
            let done = #"{"content":" ","item":"merchant.a","outcome":"done"}"#
            _ = try program.write("\(Self.header("merchant import"))\n\(done)\n{\"content\":\" \",\"it", to: "r")
            let resumed = try await run()
            #expect(resumed.status == 0, "\(resumed)")
            #expect(try Self.results(program, "r").count == 3)
            for text in [
                "hello\n\(done)\n", "precious, and no line feed", "{\"version\":1}", "\n", "\(done)\n",
                // Two incomplete headers, another subcommand's report, and a report with a damaged line.
                String(Self.header("merchant import").dropLast()), Self.header("merchant import"),
                "\(Self.header("key csr"))\n", "\(Self.header("merchant import"))\nhello\n\(done)\n",
            ] {
                _ = try program.write(text, to: "r")
                let before = daemon.requests.count
                let refused = try await run()
                #expect(refused.status == 1 && refused.error.contains("--report"), "\(text): \(refused.error)")
                #expect(try String(contentsOfFile: program.path("r"), encoding: .utf8) == text)
                #expect(daemon.requests.count == before)
            }
        }
    }

    @Test("When the daemon's storage is full, the run stops with 1, and the remaining items are not reported as failed")
    func storeUnavailable() async throws {
        let answered = Mutex(0)
        try await Self.with({ request in
            let count = answered.withLock { count in
                count += 1
                return count
            }
            return count > 2 ? .problem(503, "storeUnavailable", "the disk is full") : try Self.answer(request)
        }) { program, daemon in
            let lines = (1...20).map { "merchant.m\($0)" }.joined(separator: "\n")
            let file = try program.write("merchantIdentifier\n\(lines)\n", to: "m.csv")
            let run = try await program.run([
                "merchant", "import", file, "--concurrency", "2", "--socket", daemon.socketPath,
            ])
            #expect(run.status == 1 && run.error.contains("run the same command again to continue"), "\(run)")
            #expect(try Self.results(program, "m.csv.report.jsonl").map { $0["outcome"] } == ["done", "done"])
        }
    }

    @Test("A directory's certificates are found by their file suffixes; an invalid one does not stop the others")
    func certificates() async throws {
        try await Self.with({ request in
            request.text.contains("BAD") ? .problem(422, "certificateMalformed", "no") : try .json(Samples.key())
        }) { program, daemon in
            let directory = program.path("certs")
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            for name in ["a.cer", "b.PEM", "c.txt", ".d.cer", "e.crt"] {
                _ = try program.write(name == "e.crt" ? "BAD" : name, to: "certs/\(name)")
            }
            let first = try await program.run(["certificate", "upload", directory, "--socket", daemon.socketPath])
            #expect(first.status == 1, "\(first)")
            #expect(Set(daemon.requests.filter { $0.method == "POST" }.map(\.text)) == ["a.cer", "b.PEM", "BAD"])
            let lines = try Self.results(program, "certs/certificate-upload.report.jsonl")
            #expect(lines.count == 3 && lines.count { $0["outcome"] == "done" } == 2)
            _ = try program.write("GOOD", to: "certs/e.crt")
            let second = try await program.run(["certificate", "upload", directory, "--socket", daemon.socketPath])
            #expect(second.status == 0 && daemon.requests.count { $0.method == "POST" } == 6, "\(second)")
            let empty = try await program.run([
                "certificate", "upload", program.directory, "--socket", daemon.socketPath,
            ])
            #expect(empty.status == 1 && empty.error.contains("contains no certificate"))
        }
    }
}

import AdminCommands
import Foundation
import Synchronization
import Testing
import Vocabulary
import WireAPI

@Suite("merchantkeyctl registration import")
struct ImportTests {
    private static let header = "partnerInternalMerchantIdentifier,partnerMerchantName,domainNames\n"

    private static func partner(_ request: FakeDaemon.Request) -> String {
        let body = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
        return body?["partnerInternalMerchantIdentifier"] as? String ?? ""
    }

    /// The request's target, with its hyphens decoded.
    private static func decodedTarget(_ request: FakeDaemon.Request) -> String {
        request.target.replacing("%2D", with: "-")
    }

    /// The daemon's record of the registration that a request names.
    private static func mirror(_ request: FakeDaemon.Request) throws -> FakeDaemon.Reply {
        let partner = try #require(decodedTarget(request).split(separator: "/").last.map(String.init))
        let number = partner.dropFirst("shop-".count)
        return try .json(
            Samples.registration(
                partner, domains: ["a\(number).example", "b\(number).example"], name: "Shop, \(number)"))
    }

    @Test("a line that the report lists as done is registered again unless the daemon confirms it")
    func fellBack() async throws {
        try await Self.with({ request in
            guard request.method == "GET" else {
                return try .json(Samples.registration(Self.partner(request)), status: 201)
            }
            switch Self.decodedTarget(request) {
            case "/v1/registrations/shop-1": return .problem(404, "registrationNotFound", "no")
            case "/v1/registrations/shop-2": return try .json(Samples.registration("shop-2", name: "Shop, 2"))
            case "/v1/registrations/shop-3":
                return try .json(
                    Samples.registration(
                        "shop-3", domains: ["a3.example", "b3.example"],
                        drift: [.init("gone")], name: "Shop, 3"))
            default: return try Self.mirror(request)
            }
        }) { program, daemon, file in
            #expect(try await program.run(Self.importing(file, daemon)).status == 0)
            let before = daemon.requests.count
            let again = try await program.run(Self.importing(file, daemon))
            let found = try Self.numbers(again)
            #expect(found["done"] as? Int == 3 && found["skipped"] as? Int == 17, "\(found)")
            let orders = daemon.requests.dropFirst(before).filter { $0.method == "POST" }
            #expect(Set(orders.map(Self.partner)) == ["shop-1", "shop-2", "shop-3"])
        }
    }

    private static func with(
        _ answer: @escaping @Sendable (FakeDaemon.Request) throws -> FakeDaemon.Reply,
        _ body: (Program, FakeDaemon, _ file: String) async throws -> Void
    ) async throws {
        let program = try Program()
        defer { program.remove() }
        let daemon = try FakeDaemon(in: program.directory, answer)
        defer { daemon.stop() }
        let lines = (1...20).map { "shop-\($0),\"Shop, \($0)\",a\($0).example b\($0).example\n" }
        try await body(program, daemon, try program.write(header + lines.joined(), to: "in.csv"))
    }

    private static func importing(_ file: String, _ daemon: FakeDaemon, _ more: String...) -> [String] {
        ["registration", "import", file, "--output", "json", "--socket", daemon.socketPath] + more
    }

    private static func numbers(_ transcript: Program.Transcript) throws -> [String: Any] {
        try #require(
            try JSONSerialization.jsonObject(with: Data(transcript.output.utf8)) as? [String: Any], "\(transcript)")
    }

    @Test("each line's result is in the report, and a second run registers the remaining lines")
    func resumable() async throws {
        let isBroken = Mutex(true)
        try await Self.with({ request in
            let partner = Self.partner(request)
            if request.method == "GET" { return try Self.mirror(request) }
            let broken = isBroken.withLock { $0 }
            if broken, partner == "shop-3" { return .problem(422, "gatewayRefused", "no, \\\"really\\\"") }
            if broken, partner == "shop-4" { return .problem(500, "internalError", "oh") }
            return try .json(Samples.registration(partner), status: 201)
        }) { program, daemon, file in
            let first = try await program.run(Self.importing(file, daemon))
            #expect(first.status == 1 && first.error.contains("2 items failed"), "\(first)")
            let found = try Self.numbers(first)
            #expect(found["done"] as? Int == 18 && found["failed"] as? Int == 2 && found["notTried"] as? Int == 0)
            #expect(daemon.requests.count == 20)
            let lines = try String(contentsOfFile: "\(file).report.jsonl", encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 21, "a header and 20 results")
            let refused = try #require(lines.first { $0.contains(#""item":"shop-3""#) })
            #expect(refused.contains(#""code":"gatewayRefused","content":"Shop, 3|a3.example b3.example|||""#))
            #expect(refused.contains(#""outcome":"failed","place":"line 4""#) && refused.contains(#""at":"20"#))

            // A run that is killed while it writes leaves an incomplete line at the end of the report.
            let handle = try #require(FileHandle(forWritingAtPath: "\(file).report.jsonl"))
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(#"{"content":"reg"#.utf8))
            try handle.close()
            isBroken.withLock { $0 = false }
            let second = try await program.run(Self.importing(file, daemon))
            #expect(second.status == 0, "\(second)")
            #expect(try Self.numbers(second)["skipped"] as? Int == 18)
            func orders() -> [FakeDaemon.Request] { daemon.requests.filter { $0.method == "POST" } }
            #expect(Set(orders().dropFirst(20).map(Self.partner)) == ["shop-3", "shop-4"])
            let third = try await program.run(Self.importing(file, daemon))
            #expect(third.status == 0 && orders().count == 22)
        }
    }

    @Test("a changed line is registered again")
    func changed() async throws {
        try await Self.with({ request in try .json(Samples.registration(Self.partner(request)), status: 201) }) {
            program, daemon, file in
            _ = try await program.run(Self.importing(file, daemon))
            _ = try program.write(Self.header + "shop-1,\"Shop, 1\",c1.example\n", to: "in.csv")
            let again = try await program.run(Self.importing(file, daemon))
            #expect(again.status == 0 && daemon.requests.count == 21)
        }
    }

    @Test("the import waits while the rate limit applies, and completes every line")
    func rateLimit() async throws {
        let state = Mutex((count: 0, until: Date.distantPast, tooEarly: 0))
        try await Self.with({ request in
            let limited = state.withLock { state in
                state.count += 1
                if Date() < state.until { state.tooEarly += 1 }
                guard state.count % 9 == 0 else { return false }
                state.until = Date(timeIntervalSinceNow: 0.9)
                return true
            }
            guard limited else { return try .json(Samples.registration(Self.partner(request)), status: 201) }
            var reply = FakeDaemon.Reply.problem(429, "gatewayRateLimited", "slow down")
            reply.retryAfter = 1
            return reply
        }) { program, daemon, file in
            let transcript = try await program.run(Self.importing(file, daemon, "--concurrency", "2"))
            #expect(transcript.status == 0, "\(transcript)")
            #expect(try Self.numbers(transcript)["done"] as? Int == 20)
            // The second worker may send a few requests before the pause begins. Without a pause, about 12 requests
            // would be too early.
            #expect(state.withLock { $0.tooEarly } <= 6 && daemon.requests.count == 22)
        }
    }

    @Test("a pause of five seconds or more is announced once, and not with --quiet", arguments: [false, true])
    func announcedPause(isQuiet: Bool) async throws {
        let count = Mutex(0)
        try await Self.with({ request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            guard number <= 2 else { return try .json(Samples.registration(Self.partner(request)), status: 201) }
            var reply = FakeDaemon.Reply.problem(503, "gatewayUnavailable", "no answer")
            reply.retryAfter = 5
            return reply
        }) { program, daemon, file in
            let quiet = isQuiet ? ["--quiet"] : []
            let transcript = try await program.run(Self.importing(file, daemon, "--concurrency", "2") + quiet)
            #expect(transcript.status == 0, "\(transcript)")
            #expect(transcript.error.ranges(of: "waiting 5 s").count == (isQuiet ? 0 : 1), "\(transcript)")
        }
    }

    @Test("an error that concerns every line stops the import, and the message says how to continue")
    func stops() async throws {
        try await Self.with({ _ in .problem(503, "gatewayNotConfigured", "no identity") }) { program, daemon, file in
            let transcript = try await program.run(Self.importing(file, daemon, "--concurrency", "1"))
            #expect(
                transcript.status == 1 && transcript.error.contains("run the same command again to continue"),
                "\(transcript)")
            #expect(daemon.requests.count == 1)
            #expect(try Self.numbers(transcript)["notTried"] as? Int == 20)
        }
        let program = try Program()
        defer { program.remove() }
        let file = try program.write(Self.header + "shop-1,Shop,a.example\n", to: "in.csv")
        let gone = try await program.run(["registration", "import", file, "--socket", program.path("none.sock")])
        #expect(gone.status == 3)
    }

    @Test("a call whose response was not received is repeated")
    func lost() async throws {
        let seen = Mutex(Set<String>())
        try await Self.with({ request in
            let partner = Self.partner(request)
            guard partner != "shop-7" || !seen.withLock({ $0.insert(partner).inserted }) else {
                return .problem(504, "gatewayResponseNotReceived", "who knows")
            }
            return try .json(Samples.registration(partner), status: 201)
        }) { program, daemon, file in
            let transcript = try await program.run(Self.importing(file, daemon))
            #expect(transcript.status == 0 && daemon.requests.count == 21, "\(transcript)")
        }
    }

    @Test("a file with one fault is refused as a whole: nothing is registered, and the fault is named with its line")
    func oneFault() async throws {
        let names = (1...100).map { "d\($0).example" }.joined(separator: " ")
        let columns = Self.header.dropLast() + ",merchantUrl,merchantIdentifier\n"
        try await Self.with({ _ in .problem(404, "merchantNotFound", "no") }) { program, daemon, _ in
            for (line, fault) in [
                ("shop-2,Shop,b.example c.example b.example,,", "contains 'b.example' twice"),
                ("shop-2,Shop,,,", "'domainNames' is empty"), ("shop-2,Shop,\(names),,", "100 names"),
                ("shop-2,\u{200B}x,b.example,,", "'partnerMerchantName' contains U+200B"),
                ("shop-2,Shop,b.example,ftp://b.example/,", "'merchantUrl' is 'ftp"),
                ("shop-2,Shop,b.example,,merchant.unknown", "there is no merchant merchant.unknown"),
                ("shop-2,,b.example,,", "'partnerMerchantName' is empty"),
                ("x,Shop,b.example,,", "'partnerInternalMerchantIdentifier' is 'x'"),
            ] {
                let file = try program.write("\(columns)shop-1,Shop,a.example,,\n\(line)\n", to: "fault.csv")
                for dryRun in [[], ["--dry-run"]] {
                    let transcript = try await program.run(
                        ["registration", "import", file, "--socket", daemon.socketPath] + dryRun)
                    #expect(transcript.status == 1 && transcript.output.isEmpty, "\(transcript)")
                    #expect(transcript.error.hasPrefix("nothing was registered: "), "\(transcript)")
                    #expect(transcript.error.contains("line 3: ") && transcript.error.contains(fault), "\(transcript)")
                }
            }
            #expect(daemon.requests.allSatisfy { $0.method == "GET" })
            let good = try program.write("\(columns)shop-1,Shop,a.example,,\n", to: "good.csv")
            let dry = try await program.run([
                "registration", "import", good, "--dry-run", "--output", "json", "--socket", daemon.socketPath,
            ])
            let document = try JSONSerialization.jsonObject(with: Data(dry.output.utf8)) as? [String: Any]
            #expect(dry.status == 0 && document?["items"] as? Int == 1, "\(dry)")
            #expect(daemon.requests.allSatisfy { $0.method == "GET" })
        }
    }

    @Test("every fault of a file is named")
    func everyFault() throws {
        let text = Self.header + "x,Shop,a.example\nshop-2,Shop,https://a.example b\nshop-3,Shop,\n"
        let failure = #expect(throws: CommandFailure.self) { try RegistrationFile(Data(text.utf8), named: "r.csv") }
        let lines = failure?.message.split(separator: "\n").map { $0.prefix { $0 != ":" } } ?? []
        #expect(
            lines == ["nothing was registered", "line 2", "line 3", "line 3", "line 4"], "\(failure?.message ?? "")")
    }

    @Test("nothing is sent for an invalid file; a file that is not a report stays unchanged")
    func badFiles() async throws {
        try await Self.with({ _ in try .json(Samples.registration()) }) { program, daemon, file in
            let broken = try program.write(Self.header + "shop-1,\"Shop,a.example\n", to: "broken.csv")
            let transcript = try await program.run(Self.importing(broken, daemon))
            #expect(transcript.status == 1 && transcript.error.contains("line 2 has a quote that is never closed"))
            let letter = try program.write("Dear all,\nyours\n", to: "letter.txt")
            let noReport = try await program.run(Self.importing(file, daemon, "--report", letter))
            #expect(noReport.status == 1 && noReport.error.contains("--report"))
            #expect(try String(contentsOfFile: letter, encoding: .utf8) == "Dear all,\nyours\n")
            #expect(daemon.requests.isEmpty)
        }
    }
}

import Foundation
import Synchronization
import Testing
import Vocabulary
import WireAPI

@Suite("merchantkeyctl registration and domain")
struct RegistrationCommandTests {
    @Test("Register sends Apple's fields, with domain names in ASCII, and prints warnings to standard error")
    func register() async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.registration(warnings: ["no key"]), status: 201) }) {
            program, daemon in
            let transcript = try await program.run([
                "registration", "register", "shop|1", "--name", "Shop", "--domain", "BÜCHER.example", "--domain",
                "a.example", "--encrypt-to", "merchant.e", "--url", "https://a.example/", "--socket", daemon.socketPath,
            ])
            #expect(transcript.status == 0 && transcript.error == "warning: no key\n", "\(transcript)")
            #expect(transcript.output.contains("Apple responded (UTC)  2026-11-21 04:53, 5 min ago\n"))
            let body = try #require(
                try JSONSerialization.jsonObject(with: Data(daemon.requests[0].body)) as? [String: Any])
            #expect(body["domainNames"] as? [String] == ["xn--bcher-kva.example", "a.example"])
            #expect(body["partnerInternalMerchantIdentifier"] as? String == "shop|1" && body.count == 5)
        }
    }

    @Test(
        "Missing or invalid arguments are wrong usage, and nothing is sent",
        arguments: [
            ["register", "ab", "--name", "n", "--domain", "a.example"],
            ["register", "a/b", "--name", "n", "--domain", "a.example"],
            ["register", "shop", "--name", "n", "--domain", "https://a.example"],
            ["register", "shop", "--name", "n"], ["unregister", "shop"], ["details", "a b"],
            ["import", "x.csv", "--concurrency", "129"], ["import"],
        ])
    func wrongUsage(arguments: [String]) async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.registration()) }) { program, daemon in
            let transcript = try await program.run(["--socket", daemon.socketPath, "registration"] + arguments)
            #expect(transcript.status == 2, "\(transcript)")
            #expect(daemon.requests.isEmpty)
        }
    }

    @Test("Details are requested by the encoded identifier, and the output names their source")
    func details() async throws {
        try await FakeDaemon.with({ request in
            try .json(Samples.registration(source: request.target.hasSuffix("refresh=true") ? "apple" : "mirror"))
        }) { program, daemon in
            let common = ["--socket", daemon.socketPath, "registration", "details", "shop|1"]
            let mirror = try await program.run(common)
            #expect(mirror.output.contains("source                 the daemon's record\n"))
            let apple = try await program.run(common + ["--refresh"])
            #expect(apple.output.contains("source                 Apple\n"))
            #expect(
                daemon.requests.map(\.target) == [
                    "/v1/registrations/shop%7C1", "/v1/registrations/shop%7C1?refresh=true",
                ])
        }
    }

    private static func unregistration(_ request: FakeDaemon.Request) throws -> FakeDaemon.Reply {
        let dryRun = request.target.hasSuffix("?dryRun=true")
        var document = UnregistrationDocument(Samples.registration(domains: dryRun ? ["a.example"] : []))
        document.dryRun = dryRun
        document.domainNames = ["a.example"]
        document.warnings = ["no domain is left"]
        return try .json(document)
    }

    @Test("Without a terminal, an unregister without --yes shows its plan and changes nothing")
    func unregisterUnasked() async throws {
        try await FakeDaemon.with(Self.unregistration) { program, daemon in
            let common = ["registration", "unregister", "shop|1", "--reason", "r", "--socket", daemon.socketPath]
            let unasked = try await program.run(common)
            #expect(unasked.status == 1 && unasked.error.contains("would unregister a.example\n"))
            #expect(unasked.error.contains("--yes"))
            let dry = try await program.run(common + ["--dry-run", "--domain", "a.example"])
            #expect(dry.status == 0 && dry.output.contains("WOULD BE UNREGISTERED\na.example\n"))
            #expect(daemon.requests.allSatisfy { $0.method == "DELETE" && $0.target.hasSuffix("?dryRun=true") })
            let done = try await program.run(common + ["--yes"])
            #expect(done.status == 0 && done.output.contains("UNREGISTERED\na.example\n"))
            #expect(done.error == "warning: no domain is left\n")
            #expect(daemon.requests.last?.target == "/v1/registrations/shop%7C1")
            #expect(daemon.requests.last?.text == #"{"reason":"r"}"#)
        }
    }

    @Test("Sync continues to the end, also after a rate limit, and combines its findings")
    func sync() async throws {
        let seen = Mutex(0)
        try await FakeDaemon.with({ request in
            guard request.target != "/v1/status" else { return try .json(Samples.status([])) }
            let number = seen.withLock { seen in
                seen += 1
                return seen
            }
            var finding = SyncDocument.Finding(.init(stringLiteral: "shop-\(number)"))
            finding.drift = [DriftDocument("missingDomain", expected: "a.example")]
            var batch = SyncDocument()
            batch.compared = 2
            batch.findings = [finding]
            batch.halted =
                number == 2 ? FailureDocument(code: "gatewayRateLimited", detail: "d", retryAfter: 1) : nil
            batch.nextCursor = number < 3 ? .init(stringLiteral: "shop-\(number)") : nil
            return try .json(batch)
        }) { program, daemon in
            let transcript = try await program.run(["registration", "sync", "--socket", daemon.socketPath])
            #expect(transcript.status == 0, "\(transcript)")
            #expect(transcript.error == "compared 6 registrations: 3 differ\n")
            #expect(transcript.output.contains("shop-3"))
            let cursors = daemon.requests.filter { $0.method == "POST" }.map {
                (try? JSONSerialization.jsonObject(with: Data($0.body)) as? [String: Any])?["cursor"] as? String
            }
            #expect(cursors == [nil, "shop-1", "shop-2"])
        }
    }

    @Test("Sync says that it waits for Apple")
    func syncWaits() async throws {
        let seen = Mutex(0)
        try await FakeDaemon.with({ request in
            guard request.target != "/v1/status" else { return try .json(Samples.status([])) }
            var batch = SyncDocument()
            batch.compared = 1
            let isFirst = seen.withLock { seen in
                seen += 1
                return seen == 1
            }
            if isFirst {
                batch.halted = FailureDocument(code: "gatewayUnavailable", detail: "d", retryAfter: 5)
                batch.nextCursor = "shop-1"
            }
            return try .json(batch)
        }) { program, daemon in
            let sync = try await program.run(["registration", "sync", "--socket", daemon.socketPath])
            let lines = sync.error.split(separator: "\n")
            #expect(sync.status == 0 && lines.count == 2, "\(sync)")
            #expect(lines.first?.hasPrefix("waiting 5 s") == true)
            #expect(lines.first?.contains("gatewayUnavailable") == true)
        }
    }

    @Test("Sync describes in words a registration that Apple does not have")
    func goneRegistration() async throws {
        try await FakeDaemon.with({ request in
            guard request.target != "/v1/status" else { return try .json(Samples.status([])) }
            var finding = SyncDocument.Finding("shop-1")
            finding.drift = [DriftDocument("gone")]
            var batch = SyncDocument()
            batch.findings = [finding]
            return try .json(batch)
        }) { program, daemon in
            let sync = try await program.run(["registration", "sync", "--socket", daemon.socketPath])
            let row = sync.output.split(separator: "\n").last.map { $0.split(separator: " ").joined(separator: " ") }
            #expect(row == "shop-1 gone no record a record -", "\(sync)")
        }
    }

    @Test(
        "sync --check exits with 1 if a registration differs, also after --repair; without --check, with 0",
        arguments: [
            ([], [], 0), (["--check"], [], 0), ([], [nil], 0), (["--check"], [nil], 1),
            (["--check", "--repair"], [true], 0), (["--check", "--repair"], [true, false], 1),
        ] as [([String], [Bool?], Int32)])
    func syncCheck(options: [String], repaired: [Bool?], status: Int32) async throws {
        try await FakeDaemon.with({ request in
            guard request.target != "/v1/status" else { return try .json(Samples.status([])) }
            var batch = SyncDocument()
            batch.compared = 3
            batch.findings = repaired.enumerated().map { number, repaired in
                var finding = SyncDocument.Finding(.init(stringLiteral: "shop-\(number)"))
                finding.drift = [DriftDocument("missingDomain", expected: "a.example")]
                finding.repaired = repaired
                finding.remaining = repaired == true ? [] : finding.drift
                return finding
            }
            return try .json(batch)
        }) { program, daemon in
            let transcript = try await program.run(["registration", "sync", "--socket", daemon.socketPath] + options)
            #expect(transcript.status == status, "\(transcript)")
            #expect(status == 0 || transcript.error.contains("registration"), "\(transcript)")
        }
    }

    @Test("The domain file is printed unchanged to standard output, instructions to standard error")
    func domainFile() async throws {
        try await FakeDaemon.with({ request in
            request.method == "PUT"
                ? try .json(DomainFileDocument(sha256: "ab", size: 3, storedAt: Samples.time))
                : .text("0\u{1}\r\n", "text/plain")
        }) { program, daemon in
            let common = ["--socket", daemon.socketPath, "domain", "file"]
            let printed = try await program.run(common)
            #expect(printed.status == 0 && printed.output == "0\u{1}\r\n")
            #expect(printed.error.contains("/.well-known/apple-developer-merchantid-domain-association"))
            let file = try program.write("0\u{1}\0", to: "f")
            #expect(try await program.run(common + ["--set", file]).status == 0)
            #expect(daemon.requests.last?.body == [0x30, 1, 0])
            #expect(
                daemon.requests.map(\.target) == [
                    "/.well-known/apple-developer-merchantid-domain-association", "/v1/domain-file",
                ])
        }
    }

    @Test("A check of a domain that Apple would refuse prints the findings and exits with status 1")
    func domainCheck() async throws {
        try await FakeDaemon.with({ request in
            let fine = request.text.contains("good")
            return try .json(
                DomainCheckDocument(
                    "x.example", address: nil,
                    findings: fine ? [] : [.init(kind: "redirected", detail: "found 301")]))
        }) { program, daemon in
            let common = ["--socket", daemon.socketPath, "domain", "check"]
            #expect(try await program.run(common + ["good.example"]).status == 0)
            let bad = try await program.run(common + ["bad.example"])
            #expect(bad.status == 1 && bad.output.contains("redirected  found 301"), "\(bad)")
            #expect(bad.error == "Apple would refuse bad.example: redirected; details are listed above\n")
        }
    }
}

import Foundation
import Testing
import Vocabulary
import WireAPI

@Suite("merchantkeyctl key and certificate")
struct KeyCommandTests {
    @Test("A prefix with '/' and '+' is sent percent-encoded, and the matching key is requested")
    func prefix() async throws {
        try await FakeDaemon.with({ request in
            request.target.contains("prefix")
                ? try .json(Page(items: [Samples.key(Samples.otherHash)], nextCursor: nil))
                : try .json(Samples.key(Samples.otherHash))
        }) { program, daemon in
            let transcript = try await program.run(["key", "show", "cA7n/gp+", "--socket", daemon.socketPath])
            #expect(transcript.status == 0)
            #expect(transcript.output.contains("publicKeyHash   \(Samples.otherHash)\n"))
            #expect(transcript.output.contains("valid to (UTC)  2028-12-20 00:00\n"))
            #expect(
                daemon.requests.map(\.target) == [
                    "/v1/keys?prefix=c%417n%2Fgp%2B&limit=21", "/v1/keys/\(Samples.otherHashInPath)",
                ])
        }
    }

    @Test("A hash that begins with a hyphen in Base64url is a key and not an option")
    func hyphen() async throws {
        let hash = try #require(PublicKeyHash(anySpelling: "f9" + String(repeating: "ab", count: 31)))
        #expect(hash.base64URL.hasPrefix("-"))
        try await FakeDaemon.with({ _ in try .json(Samples.key(hash.base64)) }) { program, daemon in
            let transcript = try await program.run(["key", "show", hash.base64URL, "--socket", daemon.socketPath])
            #expect(transcript.status == 0)
            #expect(transcript.output.contains("publicKeyHash   \(hash.base64)\n"))
            let afterDashes = try await program.run([
                "key", "show", "--socket", daemon.socketPath, "--", hash.base64URL,
            ])
            #expect(afterDashes.status == 0)
            #expect(daemon.requests.count == 2)
            #expect(Set(daemon.requests.map(\.target)).count == 1)
        }
    }

    @Test("An ambiguous prefix lists the matching keys, and an unknown prefix is reported; both exit with status 1")
    func ambiguous() async throws {
        try await FakeDaemon.with({ request in
            request.target.contains("prefix=%41")
                ? try .json(Page(items: [KeyDocument](), nextCursor: nil))
                : try .json(Page(items: [Samples.key(), Samples.key(Samples.otherHash)], nextCursor: nil))
        }) { program, daemon in
            let two = try await program.run(["key", "show", "aaaa", "--socket", daemon.socketPath])
            #expect(two.status == 1)
            #expect(two.error.contains(Samples.hash) && two.error.contains(Samples.otherHash))
            let none = try await program.run(["key", "show", "Aaaa", "--socket", daemon.socketPath])
            #expect(none == .init(status: 1, output: "", error: "no key's publicKeyHash begins with 'Aaaa'\n"))
            #expect(daemon.requests.allSatisfy { $0.target.hasPrefix("/v1/keys?") })
        }
    }

    private static func isDryRun(_ request: FakeDaemon.Request) -> Bool { request.text.contains("\"dryRun\":true") }

    @Test("Without a terminal, a revoke without --yes shows its plan and changes nothing")
    func revokeUnasked() async throws {
        try await FakeDaemon.with({ try .json(Samples.transition(dryRun: Self.isDryRun($0))) }) { program, daemon in
            let transcript = try await program.run(
                ["key", "revoke", Samples.hash, "--reason", "rolled", "--socket", daemon.socketPath])
            #expect(transcript.status == 1)
            #expect(transcript.output.isEmpty)
            #expect(transcript.error.contains("would move \(Samples.hash) from current to revoked\n"))
            #expect(transcript.error.contains("warning: one active key is left\n"))
            #expect(transcript.error.contains("--yes"))
            #expect(daemon.requests.map(Self.isDryRun) == [true])
        }
    }

    @Test("--dry-run shows what would be done, also with --yes, and changes nothing", arguments: [[], ["--yes"]])
    func dryRun(more: [String]) async throws {
        try await FakeDaemon.with({ try .json(Samples.transition(dryRun: Self.isDryRun($0))) }) { program, daemon in
            let transcript = try await program.run(
                ["key", "revoke", Samples.hash, "--reason", "r", "--dry-run", "--socket", daemon.socketPath] + more)
            #expect(transcript.status == 0)
            #expect(transcript.output.contains("WOULD BE"))
            #expect(daemon.requests.map(Self.isDryRun) == [true])
        }
    }

    @Test("--yes revokes at once")
    func yes() async throws {
        try await FakeDaemon.with({ try .json(Samples.transition(dryRun: Self.isDryRun($0))) }) { program, daemon in
            let transcript = try await program.run(
                ["key", "revoke", Samples.hash, "--reason", "it \"leaked\"", "--yes", "--socket", daemon.socketPath])
            #expect(
                transcript
                    == .init(
                        status: 0,
                        output: """
                            PUBLIC KEY HASH                               FROM     TO
                            \(Samples.hash)  current  revoked

                            """, error: "warning: one active key is left\n"))
            let request = try #require(daemon.requests.first)
            #expect(daemon.requests.count == 1)
            #expect(request.target == "/v1/keys/\(Samples.hashInPath)/revoke")
            #expect(request.text.contains(#""reason":"it \"leaked\"""#))
        }
    }

    @Test(
        "On a terminal only the word yes confirms",
        arguments: [("yes\n", 0, [true, false]), ("y\n", 1, [true]), ("\n", 1, [true])] as [(String, Int32, [Bool])])
    func asked(typed: String, status: Int32, dryRuns: [Bool]) async throws {
        try await FakeDaemon.with({ try .json(Samples.transition(dryRun: Self.isDryRun($0))) }) { program, daemon in
            let transcript = try await program.run(
                ["key", "destroy", Samples.hash, "--after", "12h", "--socket", daemon.socketPath],
                input: .terminal(typed))
            #expect(transcript.status == status)
            #expect(transcript.error.contains("Type yes to destroy the private key of \(Samples.hash): "))
            #expect(daemon.requests.map(Self.isDryRun) == dryRuns)
            #expect(daemon.requests.allSatisfy { $0.text.contains("\"afterSeconds\":43200") })
        }
    }

    @Test("Promote and restore need no confirmation", arguments: ["promote", "restore"])
    func promote(subcommand: String) async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.transition(dryRun: false, from: .standby, to: .current)) }) {
            program, daemon in
            let transcript = try await program.run(["key", subcommand, Samples.hash, "--socket", daemon.socketPath])
            #expect(transcript.status == 0)
            #expect(daemon.requests.map(\.target) == ["/v1/keys/\(Samples.hashInPath)/\(subcommand)"])
        }
    }

    @Test("Generate writes a CSR that all users can read; without --force, it generates no key if the file exists")
    func generate() async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.key(state: .pending, csr: Samples.csr)) }) {
            program, daemon in
            let file = program.path("x.csr.pem")
            let arguments = ["key", "generate", "merchant.com.example", "--csr", file, "--socket", daemon.socketPath]
            #expect(try await program.run(arguments).status == 0)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == Samples.csr)
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o644)
            let again = try await program.run(arguments)
            #expect(again.status == 1)
            #expect(again.error == "\(file) exists; name another file or use --force\n")
            #expect(daemon.requests.count == 1)
            #expect(try await program.run(arguments + ["--force"]).status == 0)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: program.directory).sorted() == [
                    "admin.sock", "x.csr.pem",
                ])
        }
    }

    @Test("Generate with --csr - writes only the CSR to standard output")
    func generateToStandardOutput() async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.key(state: .pending, csr: Samples.csr)) }) {
            program, daemon in
            let transcript = try await program.run(
                [
                    "key", "generate", "merchant.com.example", "--csr", "-", "--algorithm", "RSA_v1", "--socket",
                    daemon.socketPath,
                ])
            #expect(transcript.output == Samples.csr)
            #expect(transcript.error.contains(Samples.hash))
            #expect(daemon.requests.first?.text == #"{"algorithm":"RSA_v1"}"#)
        }
    }

    @Test("A CSR is requested as PEM or DER and written unchanged")
    func csr() async throws {
        try await FakeDaemon.with({ request in
            request.headers["accept"]?.hasPrefix("application/pkcs10") == true
                ? .text("0\u{1}der", "application/pkcs10") : .text(Samples.csr, "application/x-pem-file")
        }) { program, daemon in
            let common = ["--socket", daemon.socketPath, "key", "csr", Samples.hash]
            let pem = try await program.run(common)
            #expect(pem == .init(status: 0, output: Samples.csr, error: ""))
            #expect(try await program.run(common + ["--der"]).output == "0\u{1}der")
            #expect(try await program.run(common + ["--out", "a.csr"]).status == 0)
            #expect(try String(contentsOfFile: program.path("a.csr"), encoding: .utf8) == Samples.csr)
            #expect(try await program.run(common + ["--out", "/dev/null", "--force"]).status == 1)
        }
    }

    @Test("Import sends the files as Base64 and the passphrase as text, and prints none of them")
    func importKey() async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.key(state: .standby)) }) { program, daemon in
            let key = try program.write("KEY-BYTES", to: "k")
            let certificate = try program.write("CERT", to: "c")
            let passphrase = try program.write("open sesame\n", to: "p")
            let transcript = try await program.run(
                [
                    "key", "import", "merchant.com.example", "--private-key", key, "--certificate", certificate,
                    "--passphrase-file", passphrase, "--state", "retiring", "--allow-expired", "--socket",
                    daemon.socketPath,
                ])
            #expect(transcript.status == 0)
            for secret in ["KEY-BYTES", "S0VZLUJZVEVT", "sesame"] {
                #expect(!transcript.output.contains(secret) && !transcript.error.contains(secret))
            }
            let request = try #require(daemon.requests.first)
            #expect(request.target == "/v1/merchants/merchant.com.example/keys/import")
            let body = try #require(try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any])
            #expect(body["privateKey"] as? String == "S0VZLUJZVEVT")
            #expect(body["certificate"] as? String == "Q0VSVA==")
            #expect(body["passphrase"] as? String == "open sesame")
            #expect(body["state"] as? String == "retiring")
            #expect(body["allowExpired"] as? Bool == true)
            #expect(body.count == 5)
        }
    }

    @Test("An import without --certificate sends only the file of the private key")
    func importWithoutCertificate() async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.key(state: .standby)) }) { program, daemon in
            let file = try program.write("P12", to: "k.p12")
            let transcript = try await program.run([
                "key", "import", "merchant.com.example", "--private-key", file, "--socket", daemon.socketPath,
            ])
            #expect(transcript.status == 0 && daemon.requests.first?.text == #"{"privateKey":"UDEy"}"#, "\(transcript)")
        }
    }

    @Test("roll finish announces the next key pair: in its dry run, before its question and in its result")
    func finishRoll() async throws {
        try await FakeDaemon.with({ request in
            var roll = RollDocument(
                "7", of: "merchant.com.example", algorithm: .ecV1, to: .init(stringLiteral: Samples.hash),
                startedAt: Samples.time, state: "quiet", since: Samples.time, waitingFor: "admin")
            guard request.method == "POST" else { return try .json(Page(items: [roll], nextCursor: nil)) }
            let dryRun = request.text.contains(#""dryRun":true"#)
            roll.dryRun = dryRun
            roll.transitions = [.init(.init(stringLiteral: Samples.hash), from: .retiring, to: .revoked)]
            roll.nextKeyPairs = 1
            roll.generatedKeyPairs = dryRun ? nil : [.init(stringLiteral: Samples.otherHash)]
            return try .json(roll)
        }) { program, daemon in
            let finish = ["roll", "finish", "merchant.com.example", "--socket", daemon.socketPath]
            let dry = try await program.run(finish + ["--dry-run"])
            #expect(dry.output.contains("\nwould generate 1 key pair with its CSR for the next roll\n"), "\(dry)")
            let asked = try await program.run(finish)
            #expect(asked.status == 1 && asked.error.contains("would generate 1 key pair with its CSR"), "\(asked)")
            let done = try await program.run(finish + ["--yes"])
            #expect(done.output.contains("generated key \(Samples.otherHash) for the next roll"), "\(done)")
        }
    }

    @Test("A certificate is sent unchanged, with its merchant or without, also from standard input")
    func upload() async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.key(state: .standby)) }) { program, daemon in
            let file = try program.write("0\u{1}\n\0cer", to: "x.cer")
            let common = ["--socket", daemon.socketPath, "certificate", "upload"]
            #expect(try await program.run(common + [file]).status == 0)
            #expect(try await program.run(common + [file, "--merchant", "merchant.a"]).status == 0)
            #expect(try await program.run(common + ["-"], input: .bytes("0\u{1}\n\0cer")).status == 0)
            #expect(
                daemon.requests.map(\.target)
                    == ["/v1/certificates", "/v1/merchants/merchant.a/certificates", "/v1/certificates"])
            for request in daemon.requests {
                #expect(request.text == "0\u{1}\n\0cer")
                #expect(request.headers["content-type"] == "application/octet-stream")
            }
        }
    }

    @Test("An empty, too large or missing file, or a directory without certificates, is exit status 1; nothing is sent")
    func badFiles() async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.key()) }) { program, daemon in
            let files = [
                try program.write("", to: "empty"),
                try program.write(String(repeating: "x", count: 1_048_577), to: "large"),
                program.path("absent"), program.directory,
            ]
            for file in files {
                let transcript = try await program.run(["certificate", "upload", file, "--socket", daemon.socketPath])
                #expect(transcript.status == 1)
                #expect(transcript.error.contains(file))
            }
            #expect(daemon.requests.isEmpty)
        }
    }

    @Test("A merchant is removed only with a confirmation; without one, the only removal that is sent is a dry run")
    func removeMerchant() async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.merchant()) }) { program, daemon in
            let arguments = ["merchant", "remove", "merchant.com.example", "--socket", daemon.socketPath]
            let unasked = try await program.run(arguments)
            #expect(unasked.status == 1)
            #expect(try await program.run(arguments + ["--dry-run"]).status == 0)
            let deletes = daemon.requests.filter { $0.method == "DELETE" }.map(\.target)
            #expect(deletes == Array(repeating: "/v1/merchants/merchant.com.example?dryRun=true", count: 2))
            #expect(try await program.run(arguments + ["--yes"]).status == 0)
            #expect(daemon.requests.last?.target == "/v1/merchants/merchant.com.example")
        }
    }

    @Test(
        "merchant set sends only the properties that were given",
        arguments: [
            (["--name", "Shop"], #"{"name":"Shop"}"#), (["--target", "3"], #"{"targetActiveKeyPairs":3}"#),
            (["--name", "Shop", "--target", "3"], #"{"name":"Shop","targetActiveKeyPairs":3}"#),
        ] as [([String], String)])
    func setMerchant(options: [String], body: String) async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.merchant(name: "Shop")) }) { program, daemon in
            let set = try await program.run(
                ["merchant", "set", "merchant.com.example", "--socket", daemon.socketPath] + options)
            #expect(set.status == 0 && set.output.contains("name              Shop\n"), "\(set)")
            #expect(daemon.requests.map(\.method) == ["PATCH"])
            #expect(daemon.requests.map(\.target) == ["/v1/merchants/merchant.com.example"])
            #expect(daemon.requests.map(\.text) == [body])
        }
    }

    @Test(
        "merchant set without a property, or with an invalid argument, is wrong usage, and nothing is sent",
        arguments: [["merchant.com.example"], ["shop", "--name", "Shop"], ["merchant.com.example", "--target", "x"]])
    func setNothing(arguments: [String]) async throws {
        try await FakeDaemon.with({ _ in try .json(Samples.merchant()) }) { program, daemon in
            let set = try await program.run(["--socket", daemon.socketPath, "merchant", "set"] + arguments)
            #expect(set.status == 2 && set.output.isEmpty, "\(set)")
            #expect(daemon.requests.isEmpty)
        }
    }

    @Test("merchant set reports the daemon's refusal: exit status 1")
    func setRefused() async throws {
        try await FakeDaemon.with({ _ in .problem(404, "merchantNotFound", "there is no merchant merchant.a") }) {
            program, daemon in
            let set = try await program.run(
                ["merchant", "set", "merchant.a", "--name", "A", "--socket", daemon.socketPath])
            #expect(set.status == 1 && set.error.hasPrefix("refused: merchantNotFound"), "\(set)")
        }
    }

    @Test("The audit query has the options that were given, and standard error says if there are more records")
    func audit() async throws {
        try await FakeDaemon.with({ _ in
            var caller = AuditRecordDocument.CallerDocument(name: "uid:7")
            caller.program = "x\u{1B}[2J"
            var record = AuditRecordDocument(
                9, at: Samples.time, action: "keyRevoked", caller: caller, hash: "", previousHash: "")
            record.publicKeyHash = .init(stringLiteral: Samples.hash)
            record.before = "current"
            record.after = "revoked"
            record.reason = "rolled"
            return try .json(Page(items: [record], nextCursor: "8"))
        }) { program, daemon in
            let transcript = try await program.run(
                [
                    "audit", "list", "--merchant", "merchant.a", "--key", Samples.hash, "--limit", "1", "--socket",
                    daemon.socketPath,
                ])
            #expect(transcript.status == 0)
            #expect(transcript.output.contains("current → revoked  rolled\n"))
            #expect(!transcript.output.contains("\u{1B}"))
            let keyInQuery = "a%58ryfzzhf%48%46%4C%43l%2Dgu%45kc%59p%56d1%52%2Dm%50%59%45mmeu1%4E4a%522%4Cs"
            #expect(transcript.error == "there are more records; raise --limit to see them\n")
            #expect(
                daemon.requests.map(\.target) == ["/v1/audit?merchant=merchant%2Ea&key=\(keyInQuery)&limit=1"])
        }
    }
}

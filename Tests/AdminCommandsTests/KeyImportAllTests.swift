import Foundation
import MerchantTestSupport
import Synchronization
import Testing
import Vocabulary
import WireAPI

/// `key import-all`, with files of real openssl and keytool.
@Suite(.enabled(if: ChildProcess.succeeds("openssl", "version"), "openssl is not installed"))
struct KeyImportAllTests {
    private static let hasKeytool = ChildProcess.succeeds("keytool", "-help")

    private static func run(_ command: String...) throws {
        let outcome = try ChildProcess.run(command, input: "".utf8)
        try #require(outcome.status == 0, "\(command): \(outcome.error)")
    }

    /// Writes a PEM key and its certificate.
    private static func writeKey(_ program: Program, _ name: String) throws -> (key: String, certificate: String) {
        let (key, certificate) = (program.path("\(name).key"), program.path("\(name).cer"))
        try run(
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
            "-subj", "/UID=merchant.com.example.\(name)", "-keyout", key, "-out", certificate)
        return (key, certificate)
    }

    private static func writePKCS12(_ program: Program, _ name: String, in directory: String) throws {
        let (key, certificate) = try writeKey(program, name)
        try run(
            "openssl", "pkcs12", "-export", "-inkey", key, "-in", certificate, "-name", name, "-passout", "pass:secret",
            "-out", "\(directory)/\(name).p12")
    }

    private static func answer(_ request: FakeDaemon.Request) throws -> FakeDaemon.Reply {
        try answer(request, keyCreatedAt: Samples.time)
    }

    private static func answer(
        _ request: FakeDaemon.Request, keyCreatedAt: Timestamp
    ) throws -> FakeDaemon.Reply {
        guard request.target != "/v1/status" else { return try .json(Samples.status([])) }
        guard !request.target.contains("refused") else { return .problem(404, "merchantNotFound", "no") }
        return try .json(
            KeyDocument(
                .init(stringLiteral: Samples.hash), of: "merchant.com.example", algorithm: .ecV1,
                purpose: .paymentProcessing, origin: "imported", createdAt: keyCreatedAt, state: .standby,
                since: keyCreatedAt))
    }

    private struct SentImport {
        let target: String
        let body: [String: String]
    }

    private static func imports(_ daemon: FakeDaemon) throws -> [SentImport] {
        try daemon.requests.filter { $0.method == "POST" }.map { request in
            let body = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: String]
            return SentImport(target: request.target, body: try #require(body))
        }
    }

    private static func directory(_ program: Program) throws -> String {
        let path = program.path("keys")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    @Test func `PKCS#12 files are sent unchanged, and PEM keys with the certificate beside them`() async throws {
        let isRepeat = Mutex(false)
        try await FakeDaemon.with({ request in
            // A key that was created before the daemon's time, `Samples.time`, was imported by an earlier run.
            let createdAt: Timestamp = isRepeat.withLock { $0 } ? "2026-11-20T00:00:00Z" : Samples.time
            return try Self.answer(request, keyCreatedAt: createdAt)
        }) { program, daemon in
            let directory = try Self.directory(program)
            try Self.writePKCS12(program, "a", in: directory)
            let pem = try Self.writeKey(program, "b")
            try FileManager.default.moveItem(atPath: pem.key, toPath: "\(directory)/b.pem")
            try FileManager.default.moveItem(atPath: pem.certificate, toPath: "\(directory)/b.cer")
            // A PEM file with only a certificate is no key, and a key without a certificate is a failure.
            try FileManager.default.copyItem(atPath: "\(directory)/b.cer", toPath: "\(directory)/root.pem")
            try FileManager.default.copyItem(atPath: "\(directory)/b.pem", toPath: "\(directory)/alone.key")
            let passphrase = try program.write("secret\n", to: "passphrase")
            let command = [
                "key", "import-all", directory, "--passphrase-file", passphrase, "--socket", daemon.socketPath,
            ]
            let dry = try await program.run(command + ["--dry-run"])
            #expect(dry.status == 1 && dry.output.contains("a.p12") && dry.output.contains("alone.key"), "\(dry)")
            #expect(daemon.requests.isEmpty)
            let run = try await program.run(command)
            #expect(run.status == 1 && run.output.contains("alone.key"), "\(run)")
            let sent = try Self.imports(daemon)
            #expect(sent.map(\.target) == ["/v1/keys/import", "/v1/keys/import"])
            let files = try ["a.p12", "b.pem"].map { try Data(contentsOf: URL(fileURLWithPath: "\(directory)/\($0)")) }
            #expect(Set(sent.compactMap { $0.body["privateKey"] }) == Set(files.map { $0.base64EncodedString() }))
            #expect(sent.compactMap { $0.body["certificate"] }.count == 1)
            #expect(sent.allSatisfy { $0.body["passphrase"] == "secret" })
            // The report contains no secret.
            let report = try String(contentsOfFile: "\(directory)/key-import-all.report.jsonl", encoding: .utf8)
            #expect(!report.contains("secret") && report.contains("\"item\":\"a.p12\""))
            // A second run sends the same keys again, and the daemon says that it has them.
            try FileManager.default.removeItem(atPath: "\(directory)/alone.key")
            isRepeat.withLock { $0 = true }
            let again = try await program.run(command)
            #expect(again.status == 0 && again.output.contains(/skipped +2/), "\(again)")
        }
    }

    @Test func `the merchant may be named for all files, or in a CSV file`() async throws {
        try await FakeDaemon.with(Self.answer) { program, daemon in
            let directory = try Self.directory(program)
            for name in ["a", "b"] { try Self.writePKCS12(program, name, in: directory) }
            let command = ["key", "import-all", directory, "--socket", daemon.socketPath]
            #expect(try await program.run(command + ["--merchant", "merchant.x"]).status == 0)
            #expect(try Self.imports(daemon).allSatisfy { $0.target == "/v1/merchants/merchant.x/keys/import" })
            let file = try program.write("file,merchantIdentifier\na.p12,merchant.refused\n", to: "merchants.csv")
            let before = try Self.imports(daemon).count
            let mixed = try await program.run(command + ["--merchants-file", file])
            #expect(mixed.status == 1 && mixed.output.contains("merchantNotFound"), "\(mixed)")
            #expect(
                Set(try Self.imports(daemon).dropFirst(before).map(\.target)) == [
                    "/v1/merchants/merchant.refused/keys/import", "/v1/keys/import",
                ])
            let count = daemon.requests.count
            let wrong = try program.write("file,merchantIdentifier\nc.p12,merchant.x\na.p12,shop\n", to: "wrong.csv")
            let refused = try await program.run(command + ["--merchants-file", wrong])
            #expect(refused.error.contains("line 2: there is no private key file 'c.p12'"), "\(refused)")
            #expect(refused.status == 1 && refused.error.contains("line 3") && daemon.requests.count == count)
            #expect(
                try await program.run(command + ["--merchant", "merchant.x", "--merchants-file", file]).status == 2)
        }
    }

    @Test(.enabled(if: hasKeytool, "keytool is not installed"))
    func `each key of a Java keystore is imported as PKCS#12, and a wrong passphrase is reported`() async throws {
        try await FakeDaemon.with(Self.answer) { program, daemon in
            let store = program.path("store.jks")
            for name in ["a", "b"] {
                try Self.writePKCS12(program, name, in: program.directory)
                try Self.run(
                    "keytool", "-importkeystore", "-noprompt", "-srckeystore", program.path("\(name).p12"),
                    "-srcstoretype", "PKCS12", "-srcstorepass", "secret", "-destkeystore", store, "-deststoretype",
                    "JKS", "-deststorepass", "secret", "-srcalias", name)
            }
            let passphrase = try program.write("secret", to: "passphrase")
            let run = try await program.run([
                "key", "import-all", store, "--passphrase-file", passphrase, "--socket", daemon.socketPath,
            ])
            #expect(run.status == 0 && run.output.contains(/done +2/), "\(run)")
            let sent = try Self.imports(daemon)
            #expect(sent.count == 2)
            for body in sent.map(\.body) {
                let bytes = try #require(Data(base64Encoded: body["privateKey"] ?? ""))
                let file = program.path("sent.p12")
                try bytes.write(to: URL(fileURLWithPath: file))
                try Self.run(
                    "openssl", "pkcs12", "-in", file, "-nodes", "-passin", "pass:\(body["passphrase"] ?? "")", "-out",
                    program.path("sent.pem"))
            }
            let wrong = try program.write("wrong1", to: "wrong")
            let refused = try await program.run([
                "key", "import-all", store, "--passphrase-file", wrong, "--socket", daemon.socketPath, "--report",
                program.path("other"),
            ])
            #expect(refused.status == 1 && refused.output.contains("keytool can't read the keystore"), "\(refused)")
        }
    }

    /// The daemon's response to the import of a file with three private keys, of which it refuses the second.
    private static func answerOfThree(_ request: FakeDaemon.Request) throws -> FakeDaemon.Reply {
        guard request.method == "POST" else { return try answer(request) }
        let body = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
        switch body?["keyNumber"] as? Int ?? 0 {
        case 1, 3: return try answer(request)
        case 2: return .problem(400, "malformed", "the file contains no certificate of this private key")
        default: return .problem(422, "privateKeyNotChosen", "the private key file holds 3 private keys")
        }
    }

    @Test func `a refused private key of a PKCS#12 file is named in the report, and the others are imported`()
        async throws
    {
        try await FakeDaemon.with(Self.answerOfThree) { program, daemon in
            let file = try program.write("three", to: "three.p12")
            let run = try await program.run(["key", "import-all", file, "--socket", daemon.socketPath])
            #expect(run.status == 1, "\(run)")
            let report = try String(contentsOfFile: "\(file).report.jsonl", encoding: .utf8)
            #expect(report.contains("private key 2: malformed: the file contains no certificate"), "\(report)")
            #expect(report.contains("2 private keys were imported: \(Samples.hash)"), "\(report)")
            #expect(!report.contains("private key 1:") && !report.contains("private key 3:"))
            // One request without a number, and one for each number until the daemon has no more.
            #expect(daemon.requests.count { $0.method == "POST" } == 5)
        }
    }

    @Test func `a PKCS#12 file whose private keys are all imported gets one line in the report`() async throws {
        try await FakeDaemon.with({ request in
            guard request.method == "POST" else { return try Self.answer(request) }
            let body = try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any]
            return (1...2).contains(body?["keyNumber"] as? Int ?? 0)
                ? try Self.answer(request)
                : .problem(422, "privateKeyNotChosen", "the private key file holds 2 private keys")
        }) { program, daemon in
            // The beginning of a PKCS#12 file is enough for a dry run.
            let file = try program.write("\u{30}\u{3}\u{2}\u{1}\u{3}", to: "two.p12")
            let dry = try await program.run(["key", "import-all", file, "--dry-run", "--socket", daemon.socketPath])
            #expect(dry.status == 0 && dry.error == "would import 1 private key\n", "\(dry)")
            // The count is the result of a dry run, so --quiet does not suppress it.
            let quiet = try await program.run(["key", "import-all", file, "--dry-run", "--quiet"])
            #expect(quiet.error == dry.error, "\(quiet)")
            let run = try await program.run(["key", "import-all", file, "--socket", daemon.socketPath])
            #expect(run.status == 0 && run.output.contains(/done +1/), "\(run)")
            let report = try String(contentsOfFile: "\(file).report.jsonl", encoding: .utf8)
            #expect(report.contains("\"publicKeyHash\":\"\(Samples.hash), \(Samples.hash)\""), "\(report)")
        }
    }

    @Test func `a dry run fails if the daemon will refuse the format of a file, and names the file with the reason`()
        async throws
    {
        let program = try Program()
        defer { program.remove() }
        let directory = try Self.directory(program)
        try Self.writePKCS12(program, "good", in: directory)
        let good = try Self.writeKey(program, "pem")
        let key = try String(contentsOfFile: good.key, encoding: .utf8)
        let certificate = try String(contentsOfFile: good.certificate, encoding: .utf8)
        try FileManager.default.copyItem(atPath: good.key, toPath: "\(directory)/pem.key")
        try FileManager.default.copyItem(atPath: good.certificate, toPath: "\(directory)/pem.cer")
        let pkcs12 = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/good.p12"))
        let files: [String: Data] = [
            "junk.pem": Data("junk".utf8), "short.p12": pkcs12.dropLast(1),
            // A certificate in DER, which is not a PKCS#12 file.
            "certificate.p12": Data([0x30, 0x03, 0x30, 0x01, 0x00]),
            "cut.pem": Data((certificate + key.split(separator: "\n").dropLast().joined(separator: "\n")).utf8),
            "two.pem": Data((certificate + key + key).utf8),
            "encrypted.pem": Data(
                (certificate + "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n")
                    .utf8),
        ]
        for (name, content) in files { try content.write(to: URL(fileURLWithPath: "\(directory)/\(name)")) }
        let dry = try await program.run(["key", "import-all", directory, "--dry-run"])
        #expect(dry.status == 1 && dry.error.contains("would import 2 private keys\n"), "\(dry)")
        let lines = dry.output.split(separator: "\n")
        for name in files.keys {
            #expect(lines.contains { $0.hasPrefix("\(name) ") && !$0.hasSuffix(" -") }, "\(name): \(dry.output)")
        }
        for name in ["good.p12", "pem.key"] {
            #expect(lines.contains { $0.hasPrefix("\(name) ") && $0.hasSuffix(" -") }, "\(name): \(dry.output)")
        }
        let json = try await program.run(["key", "import-all", directory, "--dry-run", "--output", "json"])
        let document = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        let failures = document?["failures"] as? [[String: String]] ?? []
        #expect(json.status == 1 && Set(failures.compactMap { $0["item"] }) == Set(files.keys), "\(json)")
    }

    @Test func `without keytool, the message says what to install`() async throws {
        let program = try Program()
        defer { program.remove() }
        let store = try program.write("store", to: "store.jks")
        let run = try await program.run(
            ["key", "import-all", store, "--dry-run"], environment: ["PATH": "/nonexistent"])
        #expect(run.status == 1 && run.output.contains("install a Java runtime"), "\(run)")
    }
}

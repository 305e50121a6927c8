import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// `applepay-sandbox serve`, the real program, asked by curl.
@Suite(.enabled(if: Programs.hasOpenSSL, "openssl is not installed"))
final class ServeTests {
    private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "applepay-sandbox").path

    private let bench: Bench
    private var process: Process?
    private var url = ""

    init() throws {
        bench = try Bench()
        try AuthorityDirectory(bench.scratch.path("apple")).store(bench.authority)
        try identity("good")
    }

    deinit {
        if let process, process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    private func path(_ name: String) -> String { bench.scratch.path(name) }

    /// Leaves `NAME.pem` and `NAME.key`.
    private func identity(_ name: String) throws {
        let csr = try bench.csr(.rsa)
        try FileManager.default.moveItem(atPath: path("rsa.key.pem"), toPath: path("\(name).key"))
        let der = try bench.authority.issue(
            csr: csr, merchant: bench.merchant, purpose: .identity, notBefore: Bench.now)
        try bench.scratch.write(der, "\(name).cer")
        let converted = try Programs.openssl(
            "x509", "-inform", "DER", "-in", path("\(name).cer"), "-out", path("\(name).pem"))
        try #require(converted.status == 0)
    }

    private func start(_ options: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: Self.program)
        process.arguments = ["serve", "--directory", path("apple"), "--control", path("control")] + options
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        self.process = process
        url = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        try #require(url.hasPrefix("https://localhost:"), "\(url)")
    }

    private func stop() -> Int32? {
        guard let process else { return nil }
        kill(process.processIdentifier, SIGTERM)
        process.waitForExit()
        return process.terminationStatus
    }

    /// Status and body, on two lines.
    private func curl(_ arguments: String...) throws -> (status: Int?, body: String, exit: Int32) {
        let outcome = try Programs.run(["curl", "-s", "-w", "\n%{http_code}", "--max-time", "10"] + arguments)
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.last.flatMap { Int($0) }, lines.dropLast().joined(separator: "\n"), outcome.status)
    }

    private func ask(_ path: String, _ body: String? = nil, identity: String? = "good") throws -> (
        status: Int?, body: String, exit: Int32
    ) {
        let certificate = identity.map { ["--cert", self.path("\($0).pem"), "--key", self.path("\($0).key")] } ?? []
        let outcome = try Programs.run(
            [
                "curl", "-s", "-w", "\n%{http_code}", "--max-time", "10", "--cacert",
                bench.scratch.path("apple/root.pem"),
            ]
                + certificate + (body.map { ["-d", $0] } ?? []) + [url + path])
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.last.flatMap { Int($0) }, lines.dropLast().joined(separator: "\n"), outcome.status)
    }

    private func control(_ method: String, _ path: String, _ body: String = "") throws -> String {
        try curl("--unix-socket", self.path("control"), "-X", method, "-d", body, "http://localhost\(path)").body
    }

    private func registration(_ domains: [String], _ identifier: String = "shop-1") -> String {
        let names = domains.map { "\"\($0)\"" }.joined(separator: ",")
        return
            #"{"partnerInternalMerchantIdentifier":"\#(identifier)","partnerMerchantName":"Shop","encryptTo":"merchant.com.example","domainNames":[\#(names)]}"#
    }

    @Test("registrations are made, shown in Apple's shape, kept over a restart and removed")
    func story() throws {
        try start("--port", "0")
        var answer = try ask("/paymentservices/registerMerchant", registration(["a.example.com"], "a|b"))
        #expect(answer.status == 200)
        #expect(answer.body == "")
        answer = try ask("/paymentservices/registerMerchant", registration(["b.example.com"], "a|b"))
        #expect(answer.status == 200)
        #expect(stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: path("control")))

        try start()
        answer = try ask("/paymentservices/merchant/a%7Cb")
        #expect(answer.status == 200)
        let details = try #require(
            try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any])
        #expect(details["domainNames"] as? [String] == ["a.example.com", "b.example.com"])
        #expect(details["partnerInternalMerchantIdentifier"] as? String == "a|b")
        #expect(details["delegatedCommerce"] as? [String: Bool] == ["enabled": false])
        let digest = try Programs.run(["sha256sum"], input: "merchant.com.example").output.prefix(64).uppercased()
        #expect(details["encryptTo"] as? String == digest)
        answer = try ask(
            "/paymentservices/unregisterMerchant",
            #"{"partnerInternalMerchantIdentifier":"a|b","domainNames":["a.example.com","b.example.com"],"reason":"r"}"#
        )
        #expect(answer.status == 200)
        answer = try ask("/paymentservices/merchant/a%7Cb")
        #expect(answer.status == 400)
        #expect(
            answer.body
                == #"{"statusCode":"400","statusMessage":"Payment Services Exception invalid or Malformed Json Received"}"#
        )
        #expect(stop() == 0)
    }

    @Test("other client certificates and none are answered with 401")
    func unauthorized() throws {
        try start()
        let made = try Programs.openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=stranger", "-keyout", path("stranger.key"),
            "-out", path("stranger.pem"))
        try #require(made.status == 0)
        for identity in [nil, "stranger"] {
            let answer = try ask("/paymentservices/merchant/shop-1", identity: identity)
            #expect(answer.status == 401)
            #expect(
                answer.body == #"{"statusCode":"401","statusMessage":"Payment Services Exception Unauthorized"}"#)
        }
    }

    @Test("a malformed request is a 400")
    func malformed() throws {
        try start()
        for body in ["", "x", "[]", "{}", #"{"domainNames":"a.example.com"}"#] {
            #expect(try ask("/paymentservices/registerMerchant", body).status == 400, "\(body)")
        }
        let wrong = [["https://a.example.com"], ["a.example.com/x"], ["localhost"], [], ["a.b", "a.b"]]
        for domains in wrong {
            #expect(try ask("/paymentservices/registerMerchant", registration(domains)).status == 400, "\(domains)")
        }
        #expect(try ask("/paymentservices/registerMerchant", registration(["a.b"], "a b")).status == 400)
        let hundred = (0..<100).map { "s\($0).example.com" }
        #expect(try ask("/paymentservices/registerMerchant", registration(hundred)).status == 400)
        #expect(try control("GET", "/registrations") == #"{"items":[]}"#)
        #expect(try ask("/elsewhere").status == 404)
    }

    @Test("faults come from the command line and the control socket, with counts and operations")
    func faults() throws {
        try start("--fail", "417:x1", "--fail", "500:x1@getDetails", "--slow-seconds", "0.1")
        #expect(try ask("/paymentservices/merchant/shop-1").status == 417)
        #expect(try ask("/paymentservices/registerMerchant", registration(["a.example.com"])).status == 200)
        #expect(try ask("/paymentservices/merchant/shop-1").status == 500)
        #expect(try ask("/paymentservices/merchant/shop-1").status == 200)
        #expect(
            try control("PUT", "/faults", #"{"faults": ["reset-after-acting:x1", "answer-lost:x1", "slow"]}"#) == "")
        for domain in ["b.example.com", "c.example.com"] {
            let lost = try ask("/paymentservices/registerMerchant", registration([domain]))
            #expect(lost.exit != 0)
        }
        #expect(try ask("/paymentservices/merchant/shop-1").status == 200)
        #expect(try control("GET", "/faults") == #"{"faults":["slow"]}"#)
        #expect(try control("DELETE", "/faults") == "")
        #expect(try control("GET", "/registrations").contains(#"["a.example.com","b.example.com","c.example.com"]"#))
        let statistics = try control("GET", "/statistics")
        #expect(statistics.contains(#""registerMerchant":3"#), "\(statistics)")
        #expect(statistics.contains(#""answer-lost":1"#))
        #expect(try control("PUT", "/faults", #"{"faults": ["nonsense"]}"#).contains("expected KIND"))
    }

    @Test("more calls in a second than the limit are told when to come again, and are counted")
    func rateLimit() throws {
        try start("--rate-limit", "1")
        var statuses: [Int?] = []
        // Two of them come in one second sooner or later.
        while !statuses.contains(429), statuses.count < 200 {
            statuses.append(try ask("/paymentservices/merchant/shop-1").status)
        }
        #expect(Set(statuses) == [400, 429], "\(statuses)")
        let statistics = try control("GET", "/statistics")
        #expect(statistics.contains(#""limit":{"refused":\#(statuses.count { $0 == 429 })}"#), "\(statistics)")
    }

    @Test("a domain is verified when told to: the file has to be there, and to be the right one")
    func verification() throws {
        let credentials = try bench.authority.issueServerCredentials(
            names: ["shop.example.com"].compactMap(SandboxServerName.init), notBefore: Bench.now)
        try bench.scratch.write(credentials.certificate, "site.pem")
        try bench.scratch.write(credentials.privateKey, "site.key")
        try FileManager.default.createDirectory(
            atPath: path("site/.well-known"), withIntermediateDirectories: true)
        let file = "site/.well-known/apple-developer-merchantid-domain-association"
        try bench.scratch.write("7B22", "file")
        let site = Process()
        site.executableURL = URL(filePath: "/usr/bin/env")
        site.arguments = [
            "openssl", "s_server", "-accept", "127.0.0.1:0", "-WWW", "-cert", path("site.pem"), "-key",
            path("site.key"),
        ]
        site.currentDirectoryURL = URL(filePath: path("site"))
        site.standardInput = FileHandle.nullDevice
        site.standardError = FileHandle.nullDevice
        let output = Pipe()
        site.standardOutput = output
        try site.run()
        defer {
            kill(site.processIdentifier, SIGKILL)
            site.waitForExit()
        }
        var said = ""
        // "ACCEPT 127.0.0.1:37715", once it listens.
        while !said.contains("\n") || !said.contains("ACCEPT") {
            said += String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            try #require(site.isRunning)
        }
        let line = try #require(said.split(separator: "\n").first { $0.contains("ACCEPT") })
        let port = try #require(Int(line.split(separator: ":").last ?? ""))
        try start(
            "--verify-domains", "--resolve", "shop.example.com=127.0.0.1:\(port)", "--association-file", path("file"))
        let request = registration(["shop.example.com"])
        #expect(try ask("/paymentservices/registerMerchant", request).status == 400)
        try bench.scratch.write("7B23", file)
        #expect(try ask("/paymentservices/registerMerchant", request).status == 400)
        try bench.scratch.write("7B22", file)
        #expect(try ask("/paymentservices/registerMerchant", request).status == 200)
    }

    @Test("issue-server makes what openssl accepts for the names asked for")
    func serverCertificate() throws {
        #expect(
            SandboxProgram.run([
                "issue-server", "--directory", path("apple"), "--name", "shop.example.com", "--name", "127.0.0.1",
                "--certificate", path("server.pem"), "--private-key", path("server.key"),
            ]) == 0)
        let mode = try FileManager.default.attributesOfItem(atPath: path("server.key"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
        for (option, name, accepts) in [
            ("-verify_hostname", "shop.example.com", true), ("-verify_ip", "127.0.0.1", true),
            ("-verify_hostname", "other.example.com", false),
        ] {
            let outcome = try Programs.openssl(
                "verify", "-purpose", "sslserver", "-CAfile", path("apple/root.pem"), option, name, path("server.pem"))
            #expect((outcome.status == 0) == accepts, "\(name): \(outcome.error)")
        }
        // A second time would overwrite a private key.
        #expect(
            SandboxProgram.run([
                "issue-server", "--directory", path("apple"), "--name", "x.example", "--certificate",
                path("server.pem"), "--private-key", path("server.key"),
            ]) == 1)
    }

    @Test("serving without a hierarchy ends with 1")
    func withoutHierarchy() { #expect(SandboxProgram.run(["serve", "--directory", path("nowhere")]) == 1) }
}

/// What `serve` is told on its command line.
@Suite struct ServeUsageTests {
    @Test(
        "a fault is read as it is written, or refused",
        arguments: ["500", "500:0.25", "answer-lost:x3@registerMerchant", "slow@getDetails"])
    func faultText(text: String) throws { #expect(try GatewayFault(text).text == text) }

    @Test(
        "what is no fault is refused",
        arguments: ["", "501", "500:", "500:2", "500:x0", "500:xx", "500@nothing", "500:-1", "slow:x1@"])
    func noFault(text: String) { #expect(throws: SandboxFault.self) { try GatewayFault(text) } }

    @Test(
        "wrong usage ends with 2",
        arguments: [
            ["serve", "--fail", "nonsense"], ["serve", "--port", "70000"], ["serve", "--slow-seconds", "x"],
            ["serve", "--name", "a/b"], ["issue-server"],
            ["issue-server", "--name", "a b", "--certificate", "x", "--private-key", "y"],
        ])
    func usage(arguments: [String]) { #expect(SandboxProgram.run(arguments) == 2) }
}

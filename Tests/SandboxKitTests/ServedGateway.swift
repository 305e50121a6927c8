import Foundation
import MerchantTestSupport
import SandboxKit
import Testing
import Vocabulary

/// The real program `applepay-sandbox serve` and its clients, as a base class for suites.
class ServedGateway {
    static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "applepay-sandbox").path

    let fixture: SandboxFixture
    private var process: ChildProcess?
    private(set) var url = ""

    /// Creates the hierarchy in the directory `apple`, and the identity `good`.
    init() throws {
        fixture = try SandboxFixture()
        try AuthorityDirectory(fixture.scratch.path("apple")).store(fixture.authority)
        try createIdentity("good", of: fixture.merchant.rawValue)
    }

    deinit {
        process?.killAndWait()
    }

    func path(_ name: String) -> String { fixture.scratch.path(name) }

    /// Creates the identity of a merchant or platform: the files `NAME.pem` and `NAME.key`.
    func createIdentity(_ name: String, of identifier: String) throws {
        let csr = try fixture.csr(.rsa)
        try FileManager.default.moveItem(atPath: path("rsa.key.pem"), toPath: path("\(name).key"))
        let der = try fixture.authority.issue(
            csr: csr, merchant: try #require(MerchantIdentifier(identifier)), purpose: .identity,
            notBefore: SandboxFixture.now)
        try fixture.scratch.write(der, "\(name).cer")
        let converted = try Programs.openssl(
            "x509", "-inform", "DER", "-in", path("\(name).cer"), "-out", path("\(name).pem"))
        try #require(converted.status == 0)
    }

    func start(_ options: String...) throws {
        let process = try ChildProcess(
            [Self.program, "serve", "--directory", path("apple"), "--control", path("control")] + options,
            output: .file(path("serve.out")))
        self.process = process
        url = try process.firstLine(in: path("serve.out"))
        try #require(url.hasPrefix("https://localhost:"), "\(url)")
    }

    func stop() -> Int32? {
        process?.signal(SIGTERM)
        return process?.wait().status
    }

    /// The status and the body of a response, and the exit status of curl.
    typealias Answer = (status: Int?, body: String, exit: Int32)

    /// Sends a request over TLS.
    ///
    /// - Parameters:
    ///   - body: the body of a POST request; nil for a GET request.
    ///   - identity: the name of the client's identity; nil for none.
    func request(
        _ path: String, _ body: String? = nil, identity: String? = "good", _ arguments: String...
    ) throws -> Answer {
        let certificate = identity.map { ["--cert", self.path("\($0).pem"), "--key", self.path("\($0).key")] } ?? []
        return try curl(
            ["--cacert", fixture.scratch.path("apple/root.pem")] + certificate + (body.map { ["-d", $0] } ?? [])
                + arguments + [url + path])
    }

    /// Sends a request to the control socket, and returns the body of the response.
    func control(_ method: String, _ path: String, _ body: String = "") throws -> String {
        try curl(["--unix-socket", self.path("control"), "-X", method, "-d", body, "http://localhost\(path)"]).body
    }

    private func curl(_ arguments: [String]) throws -> Answer {
        let outcome = try Programs.run(["curl", "-s", "-w", "\n%{http_code}", "--max-time", "10"] + arguments)
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (lines.last.flatMap { Int($0) }, lines.dropLast().joined(separator: "\n"), outcome.status)
    }
}

import Foundation
import MerchantTestSupport
import Testing

/// A process that takes the place of another server, such as Apple's or a merchant's. It is killed when this value is
/// released.
final class TestServer: Sendable {
    /// The first line that the server printed: a URL or a port.
    let announced: String
    private let process: ChildProcess

    /// - Parameter output: the file for its output.
    init(_ command: [String], output: String) throws {
        process = try ChildProcess(command, output: .file(output), error: .file(output))
        announced = try process.firstLine(in: output)
        try #require(process.isRunning, "\(command): \(announced)")
    }

    func waitForExit() { process.wait() }

    func stop() { process.killAndWait() }

    deinit { process.killAndWait() }
}

/// The servers that take the place of Apple's gateway: the sandbox, and a server in Python without merchant
/// tokens.
enum AppleServer: String, CaseIterable, Sendable {
    case sandbox, python

    static let controlSocket = "control.sock"

    /// Starts the server. ``url(of:)`` returns its URL.
    ///
    /// - Parameters:
    ///   - options: further options of the sandbox.
    ///   - certificate: the certificate of the server in Python; nil for a valid certificate for localhost.
    func start(
        for installation: Installation, _ options: [String] = [],
        certificate: (certificate: String, privateKey: String)? = nil
    ) throws -> TestServer {
        let apple = installation.path("apple")
        switch self {
        case .sandbox:
            return try TestServer(
                [
                    "\(Installation.programs)/applepay-sandbox", "serve", "--directory", apple, "--slow-seconds", "0.3",
                    "--control", installation.path(Self.controlSocket),
                ] + options, output: installation.path("server.out"))
        case .python:
            let clients = try ["root.pem", "identity-issuer.pem"].map {
                try String(contentsOfFile: "\(apple)/\($0)", encoding: .utf8)
            }
            let certified = try certificate ?? installation.serverCertificate("gateway", names: ["localhost"])
            let script = URL(filePath: #filePath).appending(
                path: "../../../AppleGatewayTests/Scripts/gateway.py"
            ).standardized.path
            return try TestServer(
                [
                    "python3", script, "--certificate", certified.certificate, "--private-key", certified.privateKey,
                    "--client-ca", try installation.write(clients.joined(separator: "\n"), "clients.pem"),
                ], output: installation.path("server.out"))
        }
    }

    func url(of server: TestServer) -> String {
        self == .python ? "https://localhost:\(server.announced)" : server.announced
    }
}

extension Installation {
    static let integrator = "platformintegrator.com.example"

    /// Has the sandbox's root issue a certificate for a web server.
    ///
    /// - Returns: the paths of the certificate and of its private key, in PEM.
    func serverCertificate(
        _ name: String, names: [String], _ options: [String] = []
    ) throws -> (certificate: String, privateKey: String) {
        let (certificate, privateKey) = (path("\(name).pem"), path("\(name).key"))
        let issued = try Self.run(
            [
                "\(Self.programs)/applepay-sandbox", "issue-server", "--directory", path("apple"), "--certificate",
                certificate, "--private-key", privateKey,
            ] + names.flatMap { ["--name", $0] } + options)
        try #require(issued.status == 0, "\(issued.error)")
        return (certificate, privateKey)
    }

    /// Creates a client certificate `NAME.pem` and its private key `NAME.key`.
    ///
    /// - Parameter hierarchy: the sandbox's directory whose authority issues the certificate.
    func identityFiles(_ name: String, by hierarchy: String = "apple", _ options: [String] = []) throws {
        for command in [
            [
                "openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout",
                path("\(name).key"), "-out", path("\(name).csr"),
            ],
            [
                "\(Self.programs)/applepay-sandbox", "issue", "--csr", path("\(name).csr"), "--merchant",
                Self.integrator, "--purpose", "identity", "--out", path("\(name).cer"), "--directory", path(hierarchy),
            ] + options,
            ["openssl", "x509", "-inform", "der", "-in", path("\(name).cer"), "-out", path("\(name).pem")],
        ] {
            let done = try Self.run(command)
            try #require(done.status == 0, "\(done.error)")
        }
    }

    /// Writes a settings file that names a gateway.
    ///
    /// - Parameters:
    ///   - identity: the name of identity files; nil for an identity key in custody.
    ///   - trusts: whether the daemon trusts the sandbox's root.
    /// - Returns: the file's path.
    func gatewaySettings(
        _ url: String, identity: String? = nil, trusts: Bool = true, further: [String] = []
    ) throws -> String {
        var lines = ["apple:", "  gateway:", "    url: \(url)"]
        if trusts { lines.append("    trust-roots: [\(path("apple/root.pem"))]") }
        if let identity {
            lines += [
                "    identity:", "      certificate: \(path("\(identity).pem"))",
                "      private-key: \(path("\(identity).key"))",
            ]
        }
        return try write((lines + further).joined(separator: "\n") + "\n", "gateway.yaml")
    }

    /// The response on the control socket of the server in Apple's place; empty if the response has no body.
    func control(_ path: String, _ arguments: String...) throws -> [String: Any] {
        let answer = try Self.run(
            ["curl", "-s", "--unix-socket", self.path(AppleServer.controlSocket)] + arguments + [
                "http://localhost\(path)"
            ])
        return answer.bytes.isEmpty ? [:] : try answer.json()
    }

    /// The domains of each merchant that is registered at the sandbox's gateway.
    func registeredAtApple() throws -> [String: Set<String>] {
        let items = try #require(try control("/registrations")["items"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: items.map {
                ($0["partnerInternalMerchantIdentifier"] as? String ?? "", Set($0["domainNames"] as? [String] ?? []))
            })
    }
}

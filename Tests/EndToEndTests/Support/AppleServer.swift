import Foundation
import MerchantTestSupport
import Testing

/// A process that plays another's part, such as Apple's server or a merchant's; gone when the value goes.
final class TestServer: Sendable {
    /// What the server printed first: a URL or a port.
    let announced: String
    private let process: ChildProcess

    /// - Parameter output: where its first line goes.
    init(_ command: [String], output: String) throws {
        process = try ChildProcess(command, output: .file(output), error: .file(output))
        announced = try process.firstLine(in: output)
        try #require(process.isRunning, "\(command): \(announced)")
    }

    func waitForExit() { process.wait() }

    deinit { process.killAndWait() }
}

/// The two servers that the daemon is held against, without a change to the daemon.
enum AppleServer: String, CaseIterable, Sendable {
    case sandbox, python

    static let controlSocket = "control.sock"

    /// Runs the server; `announced` of it becomes a URL by ``url(of:)``.
    ///
    /// - Parameters:
    ///   - options: further ones for the sandbox's.
    ///   - certificate: of the one in Python; nil: a valid one for localhost.
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

    /// A certificate by the sandbox's root for a web server, PEM.
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

    /// An identity in files, PEM: `NAME.pem` and `NAME.key`.
    ///
    /// - Parameter hierarchy: the directory of the sandbox's hierarchy that signs it.
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

    /// Settings that name a gateway, and files with the identity if they are to be used.
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

    /// What the sandbox's gateway says on its control socket.
    func control(_ path: String, _ arguments: String...) throws -> [String: Any] {
        let answer = try Self.run(
            ["curl", "-s", "--unix-socket", self.path(AppleServer.controlSocket)] + arguments + [
                "http://localhost\(path)"
            ])
        return answer.bytes.isEmpty ? [:] : try answer.json()
    }

    /// Each merchant's domains at the sandbox's gateway.
    func registeredAtApple() throws -> [String: Set<String>] {
        let items = try #require(try control("/registrations")["items"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: items.map {
                ($0["partnerInternalMerchantIdentifier"] as? String ?? "", Set($0["domainNames"] as? [String] ?? []))
            })
    }
}

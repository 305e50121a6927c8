import Foundation
import MerchantTestSupport
import Testing

/// A server that takes Apple's place for registrations, merchant sessions and merchant tokens. It is killed when this
/// value is released.
final class ApplePeer: Sendable {
    /// The sandbox, and a server in Python that shares no code with this project.
    enum Kind: String, CaseIterable, Sendable { case sandbox, python }

    let url: String
    private let kind: Kind
    private let installation: Installation
    private let server: TestServer

    /// - Parameter wrapsEvents: whether responses wrap events in `merchantTokenEvent`.
    init(_ kind: Kind, for installation: Installation, wrapsEvents: Bool = false, _ options: [String] = []) throws {
        (self.kind, self.installation) = (kind, installation)
        let options = options + (wrapsEvents ? ["--wrap-token-events"] : [])
        switch kind {
        case .sandbox:
            server = try AppleServer.sandbox.start(for: installation, options)
            url = server.announced
        case .python:
            let apple = installation.path("apple")
            let clients = try ["root.pem", "identity-issuer.pem"].map {
                try String(contentsOfFile: "\(apple)/\($0)", encoding: .utf8)
            }
            let certified = try installation.serverCertificate("gateway", names: ["localhost"])
            let script = try #require(
                Bundle.module.path(forResource: "apple_gateway", ofType: "py", inDirectory: "Scripts"))
            server = try TestServer(
                [
                    "python3", script, "--certificate", certified.certificate, "--private-key", certified.privateKey,
                    "--client-ca", try installation.write(clients.joined(separator: "\n"), "clients.pem"),
                    "--authority", apple, "--control", installation.path(AppleServer.controlSocket),
                ] + options, output: installation.path("server.out"))
            url = "https://localhost:\(server.announced)"
        }
    }

    /// The host and port, as in the setting `sessions.validation-hosts`.
    var authority: String { String(url.dropFirst("https://".count)) }

    // MARK: merchant sessions

    /// The sessions that the server issued, with what it received, oldest first.
    func sessions() throws -> [[String: Any]] { Installation.items(try installation.control("/sessions")["items"]) }

    // MARK: merchant tokens

    /// Creates an event, whose notification the server sends.
    ///
    /// - Returns: the event's identifier.
    func createEvent(
        _ type: String, of token: String, _ merchant: String, _ further: [String: Any] = [:]
    ) throws -> String {
        let request = ["eventType": type, "merchantTokenIdentifier": token, "merchantIdentifier": merchant].merging(
            further
        ) { $1 }
        let answer = try installation.control("/merchant-tokens/events", "-X", "POST", "-d", Self.json(request))
        return try #require(answer["eventId"] as? String, "\(answer)")
    }

    /// How often the daemon has fetched an event, and the result of each attempt to send its notification: the HTTP
    /// status or an error.
    func event(_ identifier: String) throws -> (fetches: Int, notifications: [String]) {
        let event = try installation.control("/merchant-tokens/events/\(identifier)")
        return (event["fetches"] as? Int ?? 0, event["notifications"] as? [String] ?? [])
    }

    func token(_ identifier: String) throws -> [String: Any] {
        let items = Installation.items(try installation.control("/merchant-tokens")["items"])
        return try #require(items.first { $0["merchantTokenIdentifier"] as? String == identifier }, "\(items)")
    }

    /// Mints the payment token of a merchant token.
    ///
    /// - Parameter certificate: the name of the certificate's file.
    /// - Returns: the path of the payment token's file.
    func mintToken(_ merchantToken: String, to certificate: String) throws -> String {
        let (path, file) = (installation.path(certificate), installation.path("\(merchantToken).json"))
        switch kind {
        case .sandbox:
            try installation.apple(
                "mint-token", "--certificate", path, "--merchant-token", merchantToken, "--out", file)
        case .python:
            let request = try Self.json(["certificate": path, "merchantTokenIdentifier": merchantToken])
            let token = try installation.control("/payment-tokens", "-X", "POST", "-d", request)
            try JSONSerialization.data(withJSONObject: token).write(to: URL(filePath: file))
        }
        return file
    }

    // MARK: faults, which only the sandbox has

    func setFaults(_ faults: String...) throws {
        _ = try installation.control("/faults", "-X", "PUT", "-d", Self.json(["faults": faults]))
    }

    /// How many calls of an operation the sandbox has received.
    func calls(_ operation: String) throws -> Int {
        let calls = try #require(try installation.control("/statistics")["calls"] as? [String: Int])
        return try #require(calls[operation], "\(calls)")
    }

    private static func json(_ object: [String: Any]) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
    }
}

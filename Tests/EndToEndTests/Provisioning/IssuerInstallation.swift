import Foundation
import Glibc
import Testing

/// A daemon with an issuer socket, the sandbox's provisioning certificates, and an issuer that sends cards.
struct IssuerInstallation: Sendable {
    /// A card number for tests, which must not remain in the daemon's memory. It differs from the number in
    /// openapi.yaml, because the daemon keeps that document in its memory.
    static let cardNumber = "5204829137460858"
    static let cardholder = "Jo Cardholder Example"

    let installation: Installation

    var socket: String { installation.path("state/issuer.sock") }

    init() throws {
        installation = try Installation()
        try installation.apple("init")
        try installation.apple("provisioning-certificates", "--request", installation.path("wallet.json"))
    }

    /// Writes the settings file.
    ///
    /// - Parameter provisioning: lines of the group `provisioning`, besides the trusted root.
    func write(_ provisioning: String...) throws {
        let lines = provisioning.map { "  \($0)\n" }.joined()
        _ = try installation.write(
            """
            environment: sandbox
            callers:
              - uid: \(geteuid())
                permits: [read, administer, monitor, provision, resolve]
            provisioning:
              trust-roots: [\(installation.path("apple/root.pem"))]
            \(lines)
            """, "daemon.yaml")
    }

    /// Starts the daemon with the settings file, and returns when it responds on the issuer socket.
    func start(environment: [String: String] = [:]) throws {
        try installation.start(config: installation.path("daemon.yaml"), environment: environment)
        try installation.eventually("the issuer socket responds") {
            try installation.curl(socket, "/v1/health").output == "200"
        }
    }

    func reload() throws {
        let outcome = try installation.ctl("reload")
        #expect(outcome.status == 0, "\(outcome.error)")
    }

    /// Writes a request as an issuer's server sends it.
    ///
    /// - Parameter nonce: nil for the nonce that Wallet passed to the app.
    /// - Returns: the file's path.
    func request(nonce: String? = nil, _ change: (inout [String: Any]) -> Void = { _ in }) throws -> String {
        let wallet = try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(filePath: installation.path("wallet.json"))))
        var request = try #require(wallet as? [String: Any])
        if let nonce { request["nonce"] = nonce }
        request["configuration"] = 1
        request["network"] = "Mastercard"
        request["activationData"] = "T1RQLTEyMw=="
        request["card"] = [
            "primaryAccountNumber": Self.cardNumber, "expiration": "12/49", "name": Self.cardholder,
            "productType": "MCD",
        ]
        change(&request)
        let path = installation.path("request.json")
        try JSONSerialization.data(withJSONObject: request).write(to: URL(filePath: path))
        return path
    }

    /// Sends the request, and returns the response's document.
    func send(_ request: String) throws -> [String: Any] {
        try installation.curlBody(socket, "/v1/in-app-provisioning/requests", "--data-binary", "@\(request)").json()
    }

    /// The error code of the response; nil if the card was encrypted.
    func code(_ request: String) throws -> String? { try send(request)["code"] as? String }
}

import Foundation
import MerchantTestSupport
import Testing

/// A daemon on a PostgreSQL server of its own, whose commits are durable.
final class PostgresInstallation: Sendable {
    static let merchant = "merchant.com.example.shop"

    let server: PostgresServer
    let installation: Installation

    init() throws {
        server = try PostgresServer()
        installation = try Installation()
        try installation.apple("init")
    }

    /// Settings for a database of the server.
    ///
    /// - Parameters:
    ///   - connection: nil: connects as the owner of the server, without a password.
    ///   - lines: further lines of the file.
    ///   - node: nil: the name of the host.
    ///   - serveStale: how long the daemon uses its keys after the end of its lease.
    /// - Returns: the file's path.
    func config(
        _ database: String, connection: String? = nil, passwordFile: String? = nil, _ lines: String = "",
        node: String? = nil, serveStale: String? = nil, named name: String = "merchantkeyd.yaml"
    ) throws -> String {
        try installation.write(
            """
            environment: sandbox
            trust:
              token-roots: [\(installation.path("apple/root.pem"))]
            roll:
              quiet-period: 2s
            store:
              kind: postgresql
              postgresql:
                connection: \(connection ?? server.connection(to: database))
            \(node.map { "    node: \($0)" } ?? "")
            \(passwordFile.map { "    password-file: \($0)" } ?? "")
            \(serveStale.map { "    serve-stale: \($0)" } ?? "")
            \(lines)
            """, name)
    }

    /// Adds the merchant with one current key.
    ///
    /// - Returns: the key's publicKeyHash.
    func onboard() throws -> String {
        #expect(try installation.ctl("merchant", "add", Self.merchant).status == 0)
        let hash = try installation.certifiedKey(Self.merchant, "first")
        #expect(try installation.ctl("key", "promote", hash).status == 0)
        return hash
    }

    /// Mints a token for a certificate.
    ///
    /// - Returns: its file's path.
    func token(for certificate: String = "first") throws -> String {
        let token = installation.path("token-\(UUID().uuidString).json")
        try installation.apple(
            "mint-token", "--certificate", installation.path("\(certificate).cer"), "--out", token)
        return token
    }

    func resolve(_ hash: String) throws -> String {
        try installation.curl(installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))").output
    }
}

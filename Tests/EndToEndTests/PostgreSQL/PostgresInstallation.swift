import Foundation
import MerchantTestSupport
import Testing

/// A new PostgreSQL server, whose commits are durable, and the files of a daemon that uses it.
final class PostgresInstallation: Sendable {
    static let merchant = "merchant.com.example.shop"

    let server: PostgresServer
    let installation: Installation

    init() throws {
        server = try PostgresServer()
        installation = try Installation()
        try installation.apple("init")
    }

    /// Writes the settings for a database of the server.
    ///
    /// - Parameters:
    ///   - connection: libpq's connection string; nil to connect as the owner of the server, without a password.
    ///   - lines: further lines of the file.
    ///   - node: the daemon's name; nil for the name of the host.
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

    /// Starts several daemons on a new database, with one master key: ``installation`` as `one`, then the others.
    /// The settings of each are in the file NAME.yaml of ``installation``.
    ///
    /// - Parameters:
    ///   - others: the other daemons by their names.
    ///   - lines: further lines of each file.
    ///   - serveStale: how long each daemon uses its keys after the end of its lease.
    /// - Returns: the name of the database.
    @discardableResult
    func start(
        with others: KeyValuePairs<String, Installation>, _ lines: String = "", serveStale: String? = nil
    ) throws -> String {
        let database = try server.createDatabase()
        try installation.start(
            config: config(database, lines, node: "one", serveStale: serveStale, named: "one.yaml"))
        for (name, daemon) in others {
            try daemon.createStateDirectory()
            try FileManager.default.copyItem(
                atPath: installation.path("state/master.key"), toPath: daemon.path("state/master.key"))
            try daemon.start(
                config: config(database, lines, node: name, serveStale: serveStale, named: "\(name).yaml"))
        }
        return database
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
        try installation.mintTokens(for: certificate, to: "token-\(UUID().uuidString).json")
    }

    /// The status of resolving a key.
    func resolve(_ hash: String) throws -> String {
        try installation.curl(installation.decryptorSocket, "/v1/keys/\(pathSpelling(hash))").output
    }
}

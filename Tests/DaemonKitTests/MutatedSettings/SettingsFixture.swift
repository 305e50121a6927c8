import DaemonKit
import Foundation
import Glibc
import MerchantTestSupport

/// A directory with the files that ``validSettings(_:)`` needs, and with files that settings must not name.
final class SettingsFixture: Sendable {
    /// Where the build puts the programs.
    static let programs = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path

    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
        for name in ["apple", "backups", "directory"] {
            try FileManager.default.createDirectory(
                atPath: path(name), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        try FileManager.default.createDirectory(
            atPath: path("open-to-all"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let apple = "\(Self.programs)/applepay-sandbox"
        try ChildProcess.output(of: [apple, "init", "--directory", path("apple")])
        try ChildProcess.output(of: [
            apple, "issue-server", "--name", "localhost", "--certificate", path("portal.pem"), "--private-key",
            path("portal.key"), "--directory", path("apple"),
        ])
        try scratch.write("0123456789abcdef0123456789abcdef\n", "webhook.secret")
        try scratch.write("this is no certificate and no key\n", "garbage")
        try scratch.write("", "empty")
        try scratch.write(try scratch.bytes("portal.key"), "readable.key")
        for (name, mode) in [("webhook.secret", 0o600), ("portal.key", 0o600), ("readable.key", 0o644)] {
            chmod(path(name), mode_t(mode))
        }
    }

    func path(_ name: String) -> String { scratch.path(name) }

    /// Writes a settings file.
    ///
    /// - Returns: its path.
    func write(_ settings: SettingsText, _ name: String) throws -> String { try scratch.write(settings.yaml, name) }

    /// Settings with which the daemon starts.
    ///
    /// - Parameter number: distinguishes the state directory, the sockets and the head file of several daemons.
    func validSettings(_ number: Int) -> SettingsText {
        var settings = SettingsText()
        settings.set("environment", "sandbox")
        settings.set("state-directory", path("s\(number)"))
        settings.set("sockets.admin.path", adminSocket(number))
        settings.set("sockets.decryptor.path", decryptorSocket(number))
        settings.set("portal.listen", "127.0.0.1:0")
        settings.set("portal.tls.certificate", path("portal.pem"))
        settings.set("portal.tls.private-key", path("portal.key"))
        settings.set("trust.token-roots", [path("apple/root.pem")])
        settings.set("trust.certificate-issuers", [path("apple/processing-issuer.pem"), path("apple/root.pem")])
        settings.set("apple.gateway.trust-roots", [path("apple/root.pem")])
        settings.set("domain-check.trust-roots", [path("apple/root.pem")])
        settings.set("audit.head.file", path("heads\(number)"))
        settings.set("backup.directory", path("backups"))
        settings.set("backup.every", "1d")
        settings[yaml: "callers"] = "[{uid: \(geteuid()), permits: [read, administer, resolve]}]"
        settings[yaml: "events.webhooks"] = "[\(webhook())]"
        return settings
    }

    func adminSocket(_ number: Int) -> String { path("a\(number).sock") }

    func decryptorSocket(_ number: Int) -> String { path("d\(number).sock") }

    /// An entry of the setting `events.webhooks`.
    func webhook(url: String = "https://127.0.0.1:1/", secret: String = "webhook.secret", name: String = "w") -> String
    {
        "{url: \"\(url)\", secret-file: \"\(path(secret))\", name: \(name), allow-internal-addresses: true}"
    }
}

import ArgumentParser
import Vocabulary

/// `applepay-sandbox issue-server`
struct IssueServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue-server",
        abstract:
            "Makes a key and a certificate for a web server in a test: a merchant's site, or a gateway of your own.",
        discussion: "The certificate is signed by the root: a client that trusts root.pem needs nothing else.")

    @OptionGroup var hierarchy: HierarchyOptions

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("A host name or an IP address; may be repeated.", valueName: "host"))
    var names: [String]

    @Option(help: ArgumentHelp("Where the certificate goes, PEM.", valueName: "file"))
    var certificate: String

    @Option(help: ArgumentHelp("Where the private key goes, PEM, mode 0600; it must not exist yet.", valueName: "file"))
    var privateKey: String

    @Option(
        help: ArgumentHelp("Begin of validity, RFC 3339 (default: now).", valueName: "time"),
        transform: Timestamp.argument)
    var notBefore: Timestamp?

    @Option(
        help: ArgumentHelp("End of validity, RFC 3339 (default: 90 days later).", valueName: "time"),
        transform: Timestamp.argument)
    var notAfter: Timestamp?

    func validate() throws {
        guard !names.isEmpty else { throw ValidationError("found no --name, expected at least one") }
        for name in names where SandboxServerName(name) == nil {
            throw ValidationError("found the name '\(name)', expected a host name or an address")
        }
    }

    func run() throws {
        let credentials = try hierarchy.authorityDirectory.load().issueServerCredentials(
            names: names.compactMap(SandboxServerName.init), notBefore: notBefore ?? .now, notAfter: notAfter)
        try Files.create(Array(credentials.privateKey.utf8), at: privateKey, mode: 0o600)
        try Files.write(Array(credentials.certificate.utf8), to: certificate)
    }
}

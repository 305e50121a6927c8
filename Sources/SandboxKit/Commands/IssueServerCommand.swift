import ArgumentParser
import Vocabulary

/// `applepay-sandbox issue-server`
struct IssueServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "issue-server",
        abstract:
            "Generate a key and a certificate for a web server in a test, such as a merchant's web site.",
        discussion: "The root signs the certificate, so clients need to trust only root.pem.")

    @OptionGroup var hierarchy: HierarchyOptions

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("A host name or IP address for the certificate; may be repeated.", valueName: "host"))
    var names: [String]

    @Option(help: ArgumentHelp("The file for the certificate, PEM.", valueName: "file"), completion: .file())
    var certificate: String

    @Option(
        help: ArgumentHelp("The file for the private key, PEM, mode 0600. It must not exist yet.", valueName: "file"),
        completion: .file())
    var privateKey: String

    @Option(
        help: ArgumentHelp("The start of the validity period, RFC 3339 (default: now).", valueName: "time"),
        transform: Timestamp.argument)
    var notBefore: Timestamp?

    @Option(
        help: ArgumentHelp(
            "The end of the validity period, RFC 3339 (default: 90 days after the start).", valueName: "time"),
        transform: Timestamp.argument)
    var notAfter: Timestamp?

    func validate() throws {
        guard !names.isEmpty else { throw ValidationError("at least one --name is required") }
        for name in names where SandboxServerName(name) == nil {
            throw ValidationError("--name '\(name)' is neither a host name nor an IP address")
        }
    }

    func run() throws {
        let credentials = try hierarchy.authorityDirectory.load().issueServerCredentials(
            names: names.compactMap(SandboxServerName.init), notBefore: notBefore ?? .now, notAfter: notAfter)
        try Files.create(Array(credentials.privateKey.utf8), at: privateKey, mode: 0o600)
        try Files.write(Array(credentials.certificate.utf8), to: certificate)
    }
}

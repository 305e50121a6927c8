import ArgumentParser
import FoundationEssentials
import Vocabulary

/// `applepay-sandbox`
struct SandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "applepay-sandbox",
        abstract:
            "Stand in for Apple in tests: certificate authority, payment token mint, gateway, provisioning broker.",
        discussion: """
            For tests only. Only programs that trust the sandbox's root.pem accept its certificates and tokens.
            """,
        version: Program.version,
        subcommands: [
            InitCommand.self, IssueCommand.self, IssueServerCommand.self, MintTokenCommand.self, ServeCommand.self,
            ProvisioningCertificatesCommand.self, ProvisionCommand.self,
        ])
}

/// The option `--directory`, which every subcommand has.
struct HierarchyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The directory of the CA hierarchy, whose root certificate is the file root.pem.", valueName: "dir"),
        completion: .directory)
    var directory = "."

    var authorityDirectory: AuthorityDirectory { AuthorityDirectory(directory) }
}

extension MerchantIdentifier {
    /// Parses the value of a command line option.
    ///
    /// - Throws: `ValidationError` if the text is not a merchant identifier.
    static func argument(_ text: String) throws -> MerchantIdentifier {
        guard let identifier = MerchantIdentifier(text) else {
            throw ValidationError("'\(text)' is not a merchant identifier, \(expectation)")
        }
        return identifier
    }
}

extension Timestamp {
    /// Parses the value of a command line option: an RFC 3339 time, or how long ago, such as `1h`.
    ///
    /// - Throws: `ValidationError` if the text is neither.
    static func argument(_ text: String) throws -> Timestamp {
        if let time = Timestamp(rfc3339: text) { return time }
        guard let seconds = DurationText.seconds(text), seconds <= longestPast else {
            throw ValidationError(
                "'\(text)' is not a time, expected RFC 3339 such as 2026-01-31T12:00:00Z, or how long ago, such as 1h")
        }
        return now.adding(.seconds(-seconds))
    }

    /// A hundred years, in seconds.
    private static let longestPast = 36_525 * 86_400

    static var now: Timestamp { Timestamp(Date()) }
}

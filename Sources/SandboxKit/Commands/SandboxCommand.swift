import ArgumentParser
import FoundationEssentials
import Vocabulary

/// `applepay-sandbox`
struct SandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "applepay-sandbox",
        abstract:
            "Stands in for Apple where Apple can't be reached: certificate authority, payment token mint, gateway.",
        discussion: "For tests only: nothing it signs is trusted by anybody who was not told to trust its root.pem.",
        version: Program.version,
        subcommands: [
            InitCommand.self, IssueCommand.self, IssueServerCommand.self, MintTokenCommand.self, ServeCommand.self,
        ])
}

/// What every verb takes.
struct HierarchyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Where the sandbox keeps its hierarchy; root.pem in it is the root.", valueName: "dir"))
    var directory = "."

    var authorityDirectory: AuthorityDirectory { AuthorityDirectory(directory) }
}

extension MerchantIdentifier {
    /// An option's value, or wrong usage.
    static func argument(_ text: String) throws -> MerchantIdentifier {
        guard let identifier = MerchantIdentifier(text) else {
            throw ValidationError("found the merchant '\(text)', \(expectation)")
        }
        return identifier
    }
}

extension Timestamp {
    /// An option's value, or wrong usage.
    static func argument(_ text: String) throws -> Timestamp {
        guard let time = Timestamp(rfc3339: text) else {
            throw ValidationError("found the time '\(text)', expected RFC 3339 as in 2026-01-31T12:00:00Z")
        }
        return time
    }

    static var now: Timestamp { Timestamp(Date()) }
}

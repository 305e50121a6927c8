import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantTokenList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List merchant tokens, sorted by identifier.",
        discussion: """
            A token is in the list after the daemon has decrypted a payment of the token or fetched an event of it. \
            The list shows the last known state; the daemon does not ask Apple.
            """,
        examples: ["merchant-token list merchant.com.example --state unlinked"])

    /// The states of a merchant token.
    enum State: String, CaseIterable, ExpressibleByArgument {
        case linked, unlinked
    }

    @Argument(
        help: "The merchant's identifier. Default: all merchants.", completion: .merchant,
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(help: "List only tokens in this state. Default: both.")
    var state: State?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            try global.printer.show(
                try await admin.merchantTokens(of: merchant, in: state?.rawValue),
                orTable: MerchantTokenDocument.table)
        }
    }
}

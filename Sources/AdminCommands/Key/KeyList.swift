import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct KeyList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the key pairs of a merchant or of all merchants.",
        discussion: """
            The key pairs of all merchants are listed state by state, and oldest first in each state; with \
            --ending-within, the key pair whose certificate expires first comes first.
            """,
        examples: [
            "key list merchant.com.example",
            "key list --state current --ending-within 60d",
        ])

    @Argument(
        help: "The merchant's identifier. Default: all merchants.", completion: .merchant,
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @OptionGroup var selection: KeySelection
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let keys = try await selection.read(of: merchant, admin)
            try global.printer.show(keys, where: selection.contains, orTable: KeyDocument.table)
        }
    }
}

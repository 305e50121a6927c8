import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the key pairs of a merchant or of all merchants.",
        discussion: """
            The key pairs of all merchants are sorted by state, and within a state by age, oldest first. With \
            --ending-within, they are sorted by the expiry of their certificates, earliest first.
            """,
        examples: [
            "key list merchant.com.example",
            "key list --state current --ending-within 60d",
        ])

    @OptionGroup var selection: KeySelection
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let keys = try await selection.read(admin)
            try global.printer.show(keys, where: selection.contains, orTable: KeyDocument.table)
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct KeyList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List a merchant's key pairs.")

    @Argument(help: "The merchant's identifier.", transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            try global.printer.show(try await admin.keys(of: merchant), orTable: KeyDocument.table)
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a merchant.",
        examples: ["merchant show merchant.com.example"])

    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var id: MerchantIdentifier

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.merchant(id)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

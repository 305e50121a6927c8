import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct AccessShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an access and when it was last used, without the secret part of its tokens.",
        examples: ["access show shop-portal"])

    @Argument(help: "The name of the access.", transform: AccessName.parse)
    var name: AccessName

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.access(name)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

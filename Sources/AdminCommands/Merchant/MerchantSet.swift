import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantSet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the properties of a merchant.",
        discussion: """
            Properties whose option is not given are not changed.
            """,
        examples: ["merchant set merchant.com.example --target 3"])

    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var id: MerchantIdentifier

    @OptionGroup var options: MerchantOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard !options.isEmpty else { throw ValidationError("nothing to change; give a property, such as --target") }
    }

    func run() async throws {
        try await global.withAdminClient { admin in
            var request = ChangeMerchantRequest()
            request.set(options)
            let response = try await admin.changeMerchant(id, request)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

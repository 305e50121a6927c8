import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MerchantTokenNotify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notify",
        abstract: "Notify Apple that usage information of a merchant token is ready.",
        discussion: """
            The daemon sends only the merchantTokenIdentifier, because Apple's public documentation does not show the \
            names of the other fields. With the settings under merchant-tokens.usage-information, the portal serves \
            usage information to devices.
            """,
        examples: ["merchant-token notify DAPLMC00002011616b5e5fd"])

    @OptionGroup var argument: MerchantTokenArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.notifyUsageInformation(of: argument.token)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

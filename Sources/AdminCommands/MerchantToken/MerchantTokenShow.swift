import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MerchantTokenShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the last known state of a merchant token, without asking Apple.",
        examples: ["merchant-token show DAPLMC00002011616b5e5fd"])

    @OptionGroup var argument: MerchantTokenArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.merchantToken(argument.token)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

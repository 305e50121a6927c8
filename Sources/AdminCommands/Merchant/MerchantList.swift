import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MerchantList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List all merchants.")

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            try global.printer.show(try await admin.merchants(), orTable: MerchantDocument.table)
        }
    }
}

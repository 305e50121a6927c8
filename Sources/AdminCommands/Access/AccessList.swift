import ArgumentParser
import MerchantKeyClient
import WireAPI

struct AccessList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List all accesses, including expired and revoked ones.",
        examples: ["access list"])

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            try global.printer.show(try await admin.accesses(), orTable: AccessDocument.table)
        }
    }
}

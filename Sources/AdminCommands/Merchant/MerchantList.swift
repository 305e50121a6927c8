import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MerchantList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List merchants, sorted by identifier.",
        examples: [
            "merchant list",
            "merchant list --prefix merchant.com.example --below-target",
        ])

    @Option(help: ArgumentHelp("List only merchants whose identifier begins with this text.", valueName: "text"))
    var prefix: String?

    @Flag(help: "List only merchants with fewer active key pairs than their target.")
    var belowTarget = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let merchants = try await admin.merchants(prefix: prefix, belowTarget: belowTarget)
            try global.printer.show(merchants, orTable: MerchantDocument.table)
        }
    }
}

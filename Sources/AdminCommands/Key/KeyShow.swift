import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show a key pair and its certificates.",
        examples: ["key show aXryfzzh"])

    @Argument(
        help: "The key's publicKeyHash, or its first characters (at least 4).", completion: .key,
        transform: KeyArgument.parse)
    var key: KeyArgument

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.key(try await key.resolve(admin))
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

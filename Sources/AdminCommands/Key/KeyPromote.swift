import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyPromote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Make a key pair the merchant's current one.",
        discussion: """
            Promote a key after its certificate was activated at Apple. The former current key becomes retiring and still \
            decrypts; promote it to undo this.
            """)

    @Argument(help: "The publicKeyHash, or its first characters.", transform: KeyArgument.parse)
    var key: KeyArgument

    @Flag(help: "Show what would be done, and change nothing.")
    var dryRun = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let response = try await admin.promote(try await key.resolve(admin), dryRun: dryRun)
            try global.printer.show(response.json) { response.document.blocks }
            global.printer.warn(response.document.warnings)
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyPromote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Make a key pair the one that Apple encrypts to.",
        discussion: """
            Do it once Apple was told to use its certificate. The current key becomes retiring and keeps decrypting; \
            promoting it again undoes this.
            """)

    @Argument(help: "publicKeyHash, or its beginning.", transform: KeyArgument.parse)
    var key: KeyArgument

    @Flag(help: "Show what would be done, and do nothing.")
    var dryRun = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let answer = try await admin.promote(try await key.resolve(admin), dryRun: dryRun)
            try global.printer.show(answer.json) { answer.document.blocks }
            global.printer.warn(answer.document.warnings)
        }
    }
}

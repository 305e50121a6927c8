import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyPromote: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Make a key pair the merchant's current key.",
        discussion: """
            The current key is the key to which Apple encrypts tokens, so promote a key after its certificate was activated at \
            Apple. The former current key becomes retiring: the daemon still decrypts tokens for that key. To undo the \
            promotion, promote the former key.
            """,
        examples: [
            "key promote aXryfzzh --dry-run",
            "key promote aXryfzzh",
        ])

    @Argument(
        help: "The key's publicKeyHash, or its first characters (at least 4).", completion: .key,
        transform: KeyArgument.parse)
    var key: KeyArgument

    @Flag(help: "Show what would be done, and change nothing.")
    var dryRun = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.promote(try await key.resolve(admin), dryRun: dryRun)
            try global.printer.show(response.json) { response.document.blocks }
            global.printer.warn(response.document.warnings)
        }
    }
}

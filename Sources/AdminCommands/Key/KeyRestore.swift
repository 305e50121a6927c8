import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Undo a revocation, and cancel a destruction whose delay has not passed.",
        discussion: """
            The key pair becomes pending, standby or retiring, never current. If another key is current, a roll from \
            the restored key to the current key starts, so that 'roll finish' can revoke the restored key again.
            """,
        examples: [
            "key restore aXryfzzh --dry-run",
            "key restore aXryfzzh",
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
            let response = try await admin.restore(try await key.resolve(admin), dryRun: dryRun)
            try global.printer.show(response.json) { response.document.blocks }
            global.printer.warn(response.document.warnings)
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Take back a revocation, and a destruction that is still to come.",
        discussion: "The key pair becomes pending, standby or retiring, never current.")

    @Argument(help: "publicKeyHash, or its beginning.", transform: KeyArgument.parse)
    var key: KeyArgument

    @Flag(help: "Show what would be done, and do nothing.")
    var dryRun = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let answer = try await admin.restore(try await key.resolve(admin), dryRun: dryRun)
            try global.printer.show(answer.json) { answer.document.blocks }
            global.printer.warn(answer.document.warnings)
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyDestroy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy", abstract: "Erase a revoked key pair's private key after a delay.",
        discussion: """
            Until the delay has passed, 'key restore' cancels the destruction. Afterwards no token for this key can be \
            decrypted again. Backups that were created earlier still contain the private key, sealed (encrypted).
            """,
        examples: [
            "key destroy aXryfzzh",
            "key destroy aXryfzzh --after 0s --yes",
        ])

    @Argument(
        help: "The key's publicKeyHash, or its first characters (at least 4).", completion: .key,
        transform: KeyArgument.parse)
    var key: KeyArgument

    @Option(
        help: ArgumentHelp(
            "Wait this long, such as 30d, 12h, 15m or 45s; 0s erases at once. Default: 30d.", valueName: "duration"),
        transform: DurationArgument.parse)
    var after: DurationArgument?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let hash = try await key.resolve(admin)
            try await confirmation.run("destroy the private key of \(hash)", global.printer) { dryRun in
                try await admin.destroy(hash, afterSeconds: after?.seconds, dryRun: dryRun)
            }
        }
    }
}

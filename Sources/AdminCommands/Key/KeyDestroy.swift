import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyDestroy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy", abstract: "Destroy a revoked key pair's private key.",
        discussion: """
            It happens after a wait, until which 'key restore' takes it back; then no token of this key can ever be \
            decrypted again. Copies and backups made earlier still hold the key.
            """)

    @Argument(help: "publicKeyHash, or its beginning.", transform: KeyArgument.parse)
    var key: KeyArgument

    @Option(
        help: ArgumentHelp(
            "How long to wait: 30d, 12h, 15m, 45s; 0s for at once. Default: 30d.", valueName: "duration"),
        transform: DurationArgument.parse)
    var after: DurationArgument?

    @OptionGroup var withdrawal: WithdrawalOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let hash = try await key.resolve(admin)
            try await withdrawal.withdraw("destroy the private key of \(hash)", global.printer) { dryRun in
                try await admin.destroy(hash, afterSeconds: after?.seconds, dryRun: dryRun)
            }
        }
    }
}

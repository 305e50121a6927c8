import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a key pair, so that the daemon refuses tokens for it from now on.",
        discussion:
            "The daemon keeps the private key until 'key destroy'; until then 'key restore' undoes the revocation.",
        examples: [
            "key revoke aXryfzzh --reason \"replaced by another key\"",
            "key revoke aXryfzzh --reason compromised --yes",
        ])

    @Argument(
        help: "The key's publicKeyHash, or its first characters (at least 4).", completion: .key,
        transform: KeyArgument.parse)
    var key: KeyArgument

    @Option(
        help: """
            Reason: any text, recorded in the audit. Only with the reason 'compromised' can you revoke a merchant's last \
            active key.
            """)
    var reason: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let hash = try await key.resolve(admin)
            try await confirmation.run("revoke key \(hash)", global.printer) { dryRun in
                try await admin.revoke(hash, reason: reason, dryRun: dryRun)
            }
        }
    }
}

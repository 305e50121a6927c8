import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke a key pair: from then on its tokens are refused.",
        discussion: """
            The private key is kept until it is destroyed, and 'key restore' undoes the revocation. A merchant's last active \
            key is revoked only if the reason is 'compromised'.
            """)

    @Argument(help: "The publicKeyHash, or its first characters.", transform: KeyArgument.parse)
    var key: KeyArgument

    @Option(help: "Reason, recorded in the audit.")
    var reason: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let hash = try await key.resolve(admin)
            try await confirmation.run("revoke key \(hash)", global.printer) { dryRun in
                try await admin.revoke(hash, reason: reason, dryRun: dryRun)
            }
        }
    }
}

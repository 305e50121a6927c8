import ArgumentParser
import MerchantKeyClient
import WireAPI

struct KeyRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Withdraw a key pair: its tokens are refused from the next request on.",
        discussion: """
            The private key is kept until it is destroyed, and 'key restore' takes the revocation back. A merchant's \
            last active key is refused, unless the reason is 'compromised'.
            """)

    @Argument(help: "publicKeyHash, or its beginning.", transform: KeyArgument.parse)
    var key: KeyArgument

    @Option(help: "Why, for the audit.")
    var reason: String

    @OptionGroup var withdrawal: WithdrawalOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let hash = try await key.resolve(admin)
            try await withdrawal.withdraw("revoke key \(hash)", global.printer) { dryRun in
                try await admin.revoke(hash, reason: reason, dryRun: dryRun)
            }
        }
    }
}

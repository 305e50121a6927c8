import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RegistrationUnregister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unregister",
        abstract: "Remove domains from a registration with Apple, or the whole registration.",
        discussion: """
            Without --domain, every domain is removed. If you remove the last domain, the whole registration is removed, \
            and Apple Pay no longer works on the merchant's pages.
            """,
        examples: ["registration unregister shop-1 --domain shop.example.com --reason \"domain was sold\""])

    @Argument(
        help: "The platform's own identifier of the merchant.", transform: PartnerInternalMerchantIdentifier.parse)
    var partner: PartnerInternalMerchantIdentifier

    @Option(
        name: .customLong("domain"), parsing: .singleValue,
        help: ArgumentHelp(
            "Remove this domain; repeat the option to remove several domains. Default: all domains.",
            valueName: "domain"),
        transform: DomainName.parse)
    var domains: [DomainName] = []

    @Option(help: "Reason, sent to Apple.")
    var reason: String

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        var fields = UnregisterRequest(reason: reason)
        fields.domainNames = domains.isEmpty ? nil : domains
        let request = fields
        try await global.withAdminClient { admin in
            try await confirmation.run("unregister domains of \(partner)", global.printer) { dryRun in
                try await admin.unregister(partner, request, dryRun: dryRun)
            }
        }
    }
}

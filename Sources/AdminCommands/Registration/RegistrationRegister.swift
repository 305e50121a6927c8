import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RegistrationRegister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register", abstract: "Register a merchant with Apple, or add domains to its registration.",
        discussion: """
            New domains are added to the registered ones, up to 99. Each domain must serve the verification file first (see \
            'domain file' and 'domain check'). The command is safe to repeat.
            """,
        examples: ["registration register shop-1 --name 'Example Shop' --domain shop.example.com"])

    @Argument(
        help: "The platform's own identifier of the merchant.", transform: PartnerInternalMerchantIdentifier.parse)
    var partner: PartnerInternalMerchantIdentifier

    @Option(help: "The merchant's name. Required for a new registration. Default: the registered name.")
    var name: String?

    @Option(
        name: .customLong("domain"), parsing: .singleValue,
        help: ArgumentHelp("Add this domain; repeat the option to add several domains.", valueName: "domain"),
        transform: DomainName.parse)
    var domains: [DomainName]

    @Option(
        help: ArgumentHelp(
            "The identifier of the merchant or platform integrator. Apple encrypts the tokens to its certificate.",
            discussion: """
                Default: the registered identifier; for a new registration, the platform integrator's, if there is only one.
                """,
            valueName: "id"), completion: .merchant, transform: MerchantIdentifier.parse)
    var encryptTo: MerchantIdentifier?

    @Option(help: "The URL of the merchant's web site. Apple does not verify the URL.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            "The identifier of the daemon's merchant to which the registration belongs. Default: none.",
            valueName: "id"),
        completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            var request = RegisterRequest(partner, domainNames: domains)
            request.partnerMerchantName = name
            request.encryptTo = encryptTo
            request.merchantUrl = url
            request.merchantIdentifier = merchant
            let response = try await admin.register(request)
            try global.printer.show(response.json) { response.document.blocks }
            global.printer.warn(response.document.warnings)
        }
    }
}

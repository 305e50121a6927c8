import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RegistrationRegister: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "register", abstract: "Register a merchant with Apple, or add domains to its registration.",
        discussion: """
            Domains add up, to 99 in all. Each has to serve the verification file before ('domain file', 'domain check'). \
            Repeating it is safe.
            """)

    @Argument(help: "The platform's own name for the merchant.", transform: PartnerArgument.parse)
    var partner: PartnerInternalMerchantIdentifier

    @Option(help: "The merchant's name; may be left out for a merchant that is registered.")
    var name: String?

    @Option(
        name: .customLong("domain"), parsing: .singleValue,
        help: ArgumentHelp("A domain to add; repeat it for more.", valueName: "domain"),
        transform: DomainArgument.parse)
    var domains: [DomainName]

    @Option(
        help: ArgumentHelp(
            "Whose certificate encrypts the tokens.",
            discussion: "Default: what the registration has, else the only merchant platformintegrator.….",
            valueName: "id"), transform: MerchantArgument.parse)
    var encryptTo: MerchantIdentifier?

    @Option(help: "The merchant's own site; Apple does not verify it.")
    var url: String?

    @Option(
        help: ArgumentHelp("The merchant record it belongs to.", valueName: "id"), transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let answer = try await admin.register(
                RegisterRequest(
                    partnerInternalMerchantIdentifier: partner.rawValue, partnerMerchantName: name,
                    domainNames: domains.map(\.rawValue), encryptTo: encryptTo?.rawValue, merchantUrl: url,
                    merchantIdentifier: merchant?.rawValue))
            try global.printer.show(answer.json) { answer.document.blocks }
            global.printer.warn(answer.document.warnings)
        }
    }
}

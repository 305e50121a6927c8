import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RegistrationDetails: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "details", abstract: "Show a registration and its domains.",
        discussion:
            "Shows the daemon's record and the age of Apple's last response. With --refresh, the daemon asks Apple.",
        examples: ["registration details shop-1 --refresh"])

    @Argument(
        help: "The platform's own identifier of the merchant.", transform: PartnerInternalMerchantIdentifier.parse)
    var partner: PartnerInternalMerchantIdentifier

    @Flag(help: "Ask Apple, and show Apple's record instead of the daemon's.")
    var refresh = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.registration(partner, refresh: refresh)
            try global.printer.show(response.json) { response.document.blocks }
            global.printer.warn(response.document.warnings)
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RegistrationDetails: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "details", abstract: "Show a registration with its current domains.",
        discussion: "What the mirror has, and how old Apple's last word is; with --refresh Apple's answer.")

    @Argument(help: "The platform's own name for the merchant.", transform: PartnerArgument.parse)
    var partner: PartnerInternalMerchantIdentifier

    @Flag(help: "Ask Apple.")
    var refresh = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let answer = try await admin.registration(partner, refresh: refresh)
            try global.printer.show(answer.json) { answer.document.blocks }
            global.printer.warn(answer.document.warnings)
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollAbandon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "abandon", abstract: "Abandon a roll before its new key is promoted.",
        discussion: "A new key without a certificate is revoked; one with a certificate stays active.")

    @OptionGroup var choice: RollChoice

    @Option(help: "Reason, recorded in the audit.")
    var reason: String?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let roll = try await choice.find(admin)
            try await confirmation.run("abandon roll \(roll.rollId) of \(roll.merchantIdentifier)", global.printer) {
                try await admin.abandonRoll(roll.rollId, reason: reason, dryRun: $0)
            }
        }
    }
}

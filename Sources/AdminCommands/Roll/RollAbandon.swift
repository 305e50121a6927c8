import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollAbandon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "abandon", abstract: "End a roll before its new key is promoted, and keep the old key.",
        discussion: "If the new key has no certificate yet, it is revoked. Otherwise the new key stays active.",
        examples: ["roll abandon merchant.com.example --reason \"wrong algorithm\""])

    @OptionGroup var selection: RollSelection

    @Option(help: "Reason, recorded in the audit.")
    var reason: String?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let roll = try await selection.find(admin)
            try await confirmation.run("abandon roll \(roll.rollId) of \(roll.merchantIdentifier)", global.printer) {
                try await admin.abandonRoll(roll.rollId, reason: reason, dryRun: $0)
            }
        }
    }
}

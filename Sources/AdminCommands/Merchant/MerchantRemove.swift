import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a merchant.",
        discussion: """
            A merchant can be removed if each of its key pairs is destroyed, or was revoked before it had a certificate, and no \
            registration names the merchant. The merchant's history is kept, and its identifier can't be used again. A removal \
            can't be undone.
            """,
        examples: ["merchant remove merchant.com.example --dry-run"])

    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var id: MerchantIdentifier

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let before = try await admin.merchant(id)
            if confirmation.dryRun || !confirmation.yes { try await admin.removeMerchant(id, dryRun: true) }
            if confirmation.dryRun {
                try global.printer.show(before.json) { before.document.blocks }
                global.printer.note("would remove merchant \(id); its identifier can't be used again")
                return
            }
            try confirmation.confirm("remove merchant \(id), which can't be undone")
            try await admin.removeMerchant(id, dryRun: false)
            try global.printer.show(before.json) { before.document.blocks }
            global.printer.note("removed merchant \(id); its identifier can't be used again")
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a merchant.",
        discussion: """
            Refused while a key pair is neither destroyed nor abandoned before it had a certificate. Its history is \
            kept and its identifier stays reserved: this can't be undone.
            """)

    @Argument(help: "The merchant's identifier.", transform: MerchantArgument.parse)
    var id: MerchantIdentifier

    @OptionGroup var withdrawal: WithdrawalOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let before = try await admin.merchant(id)
            if withdrawal.dryRun || !withdrawal.yes { try await admin.removeMerchant(id, dryRun: true) }
            if withdrawal.dryRun {
                try global.printer.show(before.json) { before.document.blocks }
                global.printer.remark("would remove merchant \(id); its identifier stays reserved")
                return
            }
            try withdrawal.confirm("remove merchant \(id), which can't be undone", global.printer)
            try await admin.removeMerchant(id, dryRun: false)
            try global.printer.show(before.json) { before.document.blocks }
            global.printer.remark("removed merchant \(id); its identifier stays reserved")
        }
    }
}

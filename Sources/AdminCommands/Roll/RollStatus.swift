import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of each roll, its next step, and who must take that step.",
        discussion: """
            With a merchant, lists all rolls of the merchant, newest first; otherwise the open rolls of all merchants. \
            For a roll that has ended, the column NEXT shows why it ended.
            """,
        examples: [
            "roll status",
            "roll status merchant.com.example",
        ])

    @Argument(
        help: "The merchant's identifier. Default: all merchants.", completion: .merchant,
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp(
            "List only rolls in this state: open, started, certificateStored, promoted, quiet, finished or abandoned.",
            valueName: "state"))
    var state: RollStateArgument?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        // Without --state: all rolls of the given merchant, or only the open rolls if no merchant is given.
        let defaultState: RollStateArgument? = merchant == nil ? .open : nil
        try await global.withAdminClient { admin in
            let rolls = try await admin.rolls(of: merchant, state: (state ?? defaultState)?.rawValue)
            try global.printer.show(rolls, orTable: RollDocument.table)
        }
    }
}

/// The values of `--state`: the state of a roll, or `open` for every state except `finished` and `abandoned`.
package enum RollStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case open, started, certificateStored, promoted, quiet, finished, abandoned
}

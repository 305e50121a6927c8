import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the state of rolls, the next step, and who takes it.",
        discussion: "Lists every roll of one merchant, newest first, or the open rolls of all merchants.")

    @Argument(help: "The merchant's identifier. Default: all merchants.", transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp(
            "Only rolls in this state: open, started, certificateStored, promoted, quiet, finished or abandoned.",
            valueName: "state"))
    var state: RollStateArgument?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let rolls = try await admin.rolls(
                of: merchant, state: state?.rawValue ?? (merchant == nil ? RollStateArgument.open.rawValue : nil))
            try global.printer.show(rolls, orTable: RollDocument.table)
        }
    }
}

/// The values of `--state`: a state, or `open` for every state before `finished` and `abandoned`.
package enum RollStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case open, started, certificateStored, promoted, quiet, finished, abandoned
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show what has happened, what comes next, and who must do it.",
        discussion: "Of one merchant every roll, newest first; of all merchants the open ones.")

    @Argument(help: "The merchant's identifier; every merchant where absent.", transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp(
            "open, started, certificateStored, promoted, quiet, finished or abandoned.", valueName: "state"))
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

/// What a list of rolls can be narrowed to.
package enum RollStateArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case open, started, certificateStored, promoted, quiet, finished, abandoned
}

import ArgumentParser
import MerchantKeyClient
import WireAPI

struct EventRedeliver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redeliver", abstract: "Send events again that a webhook did not take for a day.",
        discussion: "'status' says how many are parked. They come after younger ones that were delivered meanwhile.")

    @Argument(help: ArgumentHelp("The number of one event. Default: all.", valueName: "number"))
    var sequence: Int?

    @Option(help: ArgumentHelp("Only to this webhook.", valueName: "name"))
    var webhook: String?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            let answer = try await admin.redeliverEvents(
                RedeliverEventsRequest(sequence: sequence, webhook: webhook))
            try global.printer.show(answer.json) {
                [.record([("on their way again", Cell("\(answer.document.redelivered)"))])]
            }
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import WireAPI

struct EventRedeliver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redeliver", abstract: "Deliver parked events to their webhooks again.",
        discussion: "An event is parked after its delivery failed for 24 hours; 'status' shows how many are parked.")

    @Argument(help: ArgumentHelp("The number of one event. Default: all parked events.", valueName: "number"))
    var sequence: Int?

    @Option(help: ArgumentHelp("Only events for this webhook.", valueName: "name"))
    var webhook: String?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdmin { admin in
            var request = RedeliverEventsRequest()
            request.sequence = sequence
            request.webhook = webhook
            let response = try await admin.redeliverEvents(request)
            try global.printer.show(response.json) {
                [.record([("redelivered", Cell(response.document.redelivered))])]
            }
        }
    }
}

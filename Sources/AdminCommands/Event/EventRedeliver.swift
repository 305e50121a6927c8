import ArgumentParser
import MerchantKeyClient
import WireAPI

struct EventRedeliver: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redeliver", abstract: "Deliver parked events to their webhooks again.",
        discussion: """
            After the delivery of an event has failed for 24 hours, the event is parked: the daemon no longer tries to deliver \
            it. 'status' shows how many events are parked.
            """,
        examples: [
            "event redeliver",
            "event redeliver 1044 --webhook billing",
        ])

    @Argument(
        help: ArgumentHelp("Deliver only the event with this number. Default: all parked events.", valueName: "number"))
    var sequence: Int?

    @Option(help: ArgumentHelp("Deliver only to this webhook. Default: every webhook.", valueName: "name"))
    var webhook: String?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            var request = RedeliverEventsRequest()
            request.sequence = sequence
            request.webhook = webhook
            let response = try await admin.redeliverEvents(request)
            try global.printer.show(response.json) {
                [.record([("deliveries queued", Cell(response.document.redelivered))])]
            }
        }
    }
}

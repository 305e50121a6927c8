import ArgumentParser
import MerchantKeyClient
import WireAPI

struct WebhookTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Send a signed test event to a webhook, and show the response.",
        discussion: """
            The event has the kind webhookTest and the sequence 0. It is sent once and is not stored. Exit status 1 if \
            the webhook's server does not respond with a status from 200 to 299.
            """,
        examples: ["webhook test ops"])

    @Argument(help: "The name of the webhook, as 'webhook list' shows it.")
    var name: String

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.testWebhook(name)
            try global.printer.show(response.json) { response.document.blocks }
            if let failure = response.document.failure {
                throw CommandFailure(.failed, "the test event was not delivered: \(failure)")
            }
        }
    }
}

extension WebhookTestDocument {
    fileprivate var blocks: [Block] {
        [
            .record([
                ("webhook", Cell(webhook)),
                ("delivered", Cell(delivered ? "yes" : "no", delivered ? .good : .critical)),
                ("status", status.map { Cell($0) }),
                ("time", Cell("\(milliseconds) ms")),
                ("event id", Cell(eventId)),
                ("response", responseBody.flatMap { $0.isEmpty ? nil : Cell($0) }),
            ])
        ]
    }
}

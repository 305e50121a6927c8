import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct WebhookList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the webhooks of the daemon's settings, and the state of their deliveries.",
        discussion: """
            SECRETS is the number of secrets that sign a delivery: 2 while an old secret is replaced. '?' means that \
            the file with the secrets can't be read.
            """,
        examples: ["webhook list"])

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.webhooks()
            try global.printer.show(response.json) { [WebhookDocument.table(response.document.items)] }
        }
    }
}

extension WebhookDocument {
    fileprivate static func table(_ webhooks: [WebhookDocument]) -> Block {
        .table(
            headings: ["WEBHOOK", "HOST", "SECRETS", "UNDELIVERED", "PARKED", "LAST DELIVERED (UTC)", "LAST FAILURE"],
            rows: webhooks.map { webhook in
                [
                    Cell(webhook.name), Cell(webhook.host),
                    webhook.secrets.map { Cell($0, $0 > 1 ? .notice : .plain) } ?? Cell("?", .warning),
                    Cell(webhook.undelivered), Cell(webhook.parked, webhook.parked > 0 ? .warning : .plain),
                    Cell(time: webhook.lastDelivered), Cell(webhook.lastFailure),
                ]
            }, details: ["HOST"])
    }
}

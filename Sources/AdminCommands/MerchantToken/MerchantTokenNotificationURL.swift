import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct MerchantTokenNotificationURL: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notification-url",
        abstract: "Show the URLs at which the portal receives notifications of a merchant's tokens, newest first.",
        discussion: """
            Each URL ends with a secret, by which the daemon identifies the merchant. Put the URL into the field \
            tokenNotificationURL of the merchant's payment requests. Existing URLs stay valid after --new, because \
            Apple keeps the URL of each token. With --output json, prints an object with the list 'items'; with --new, \
            prints an object with only the new URL.
            """,
        examples: [
            "merchant-token notification-url merchant.com.example --new",
            "merchant-token notification-url merchant.com.example --output json | jq -r '.items[0].url'",
        ])

    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier

    @Flag(help: "Create a URL with a new secret, and show only this URL.")
    var new = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            if new {
                let response = try await admin.createTokenNotificationURL(for: merchant)
                try global.printer.show(response.json) { response.document.blocks }
                return
            }
            let response = try await admin.tokenNotificationURLs(of: merchant)
            try global.printer.show(response.json) { [TokenNotificationURLDocument.table(response.document.items)] }
            if response.document.items.isEmpty {
                global.printer.note("\(merchant) has no URL of its own; create one with --new")
            }
        }
    }
}

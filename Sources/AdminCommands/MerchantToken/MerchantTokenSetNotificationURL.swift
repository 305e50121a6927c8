import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MerchantTokenSetNotificationURL: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-notification-url",
        abstract: "Change the URL to which Apple sends the notifications of a merchant token.",
        discussion: """
            Apple gets the first URL from the field tokenNotificationURL of the payment request. 'merchant-token \
            notification-url' shows the URL of this daemon's portal for a merchant.
            """,
        examples: ["merchant-token set-notification-url DAPLMC00002011616b5e5fd https://pay.example.com/tokenapi"])

    @OptionGroup var argument: MerchantTokenArgument

    @Argument(help: "The URL, which begins with https:// and has at most 256 characters.")
    var url: String

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.setNotificationURL(url, of: argument.token)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

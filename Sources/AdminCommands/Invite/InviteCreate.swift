import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct InviteCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a link with which a person at a merchant can sign in to the portal once.",
        discussion: """
            Send the link only to this person: the first person who uses it can manage the merchant's certificates and \
            domains.
            """,
        examples: ["invite create merchant.com.example --note \"Jo, web team\""])

    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier

    @Option(
        help: ArgumentHelp(
            "Accept the link for this time, such as 2d, at most 30d. Default: 7d.", valueName: "duration"),
        transform: ExpiryArgument.parseForInvitation)
    var expires: ExpiryArgument?

    @Option(help: ArgumentHelp("A note for 'invite list', such as the name of the recipient.", valueName: "text"))
    var note: String?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        var fields = CreateInvitationRequest(merchant)
        fields.expiresAt = expires?.timeFromNow
        fields.note = note
        let request = fields
        try await global.withAdminClient { admin in
            let response = try await admin.createInvitation(request)
            try global.printer.show(response.json) { response.document.blocks }
            guard global.output == .table else { return }
            global.printer.note("this link is shown only once; it can be used for one sign-in")
        }
    }
}

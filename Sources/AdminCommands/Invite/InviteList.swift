import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct InviteList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List invitations, including used, expired and revoked ones, newest first.",
        examples: ["invite list merchant.com.example"])

    @Argument(
        help: "The merchant's identifier. Default: all merchants.", completion: .merchant,
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            try global.printer.show(try await admin.invitations(of: merchant), orTable: InvitationDocument.table)
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct InviteRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an invitation and end its session at once.",
        examples: ["invite revoke 0f3a5c7e9b1d2468"])

    @Argument(
        help: "The identifier of the invitation, as 'invite list' shows it.", transform: InvitationIdentifier.parse)
    var id: InvitationIdentifier

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.revokeInvitation(id)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

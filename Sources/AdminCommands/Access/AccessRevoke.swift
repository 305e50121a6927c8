import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct AccessRevoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Revoke an access at once.",
        discussion: """
            The portal refuses the machine's next request. A revocation can't be undone, and the name can't be used \
            again. To let the machine in again, create an access with another name.
            """,
        examples: ["access revoke shop-portal"])

    @Argument(help: "The name of the access.", transform: AccessName.parse)
    var name: AccessName

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.revokeAccess(name)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

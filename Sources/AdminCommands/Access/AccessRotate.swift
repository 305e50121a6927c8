import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct AccessRotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Create a new token for an access, and print it.",
        discussion: """
            The old token stays valid for the time in --overlap, so that the machine can change to the new token \
            without an interruption. If the old token has leaked, use '--overlap 0s', which revokes it at once.
            """,
        examples: [
            "access rotate shop-portal",
            "access rotate shop-portal --overlap 0s",
        ])

    @Argument(help: "The name of the access.", transform: AccessName.parse)
    var name: AccessName

    @Option(
        help: ArgumentHelp(
            "Accept the old token for this time, such as 2h. Default: 24h.", valueName: "duration"),
        transform: DurationArgument.parse)
    var overlap: DurationArgument?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.rotateAccess(name, overlapSeconds: overlap?.seconds)
            try global.printer.show(response.json) { response.document.blocks }
            response.document.noteToken(global.printer)
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import WireAPI

struct MerchantTokenPublicKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "public-key",
        abstract: "Ask Apple for the public key of a merchant token, with which usage information is encrypted.",
        discussion: """
            Apple generates the key after the token has a notification URL. Until Apple has generated the key, the \
            command fails with merchantTokenKeyNotReady; run the command again later.
            """,
        examples: ["merchant-token public-key DAPLMC00002011616b5e5fd"])

    @OptionGroup var argument: MerchantTokenArgument
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try await global.withAdminClient { admin in
            let response = try await admin.publicKey(of: argument.token)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

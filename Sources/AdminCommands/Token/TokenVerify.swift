import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct TokenVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify a payment token's signature and time.",
        discussion: """
            The daemon needs no private key for this, and does not record the token as used. Exit status 1 if the verification \
            fails.
            """,
        examples: [
            "token verify token.json",
            "token verify token.json --at 1h",
        ])

    @Argument(help: "The token file, or '-' for standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "Verify the token as if it had been received at this time: \(PastTime.forms). Default: now.",
            valueName: "time"),
        transform: PastTime.parse)
    var at: Timestamp?

    @OptionGroup var decryptor: DecryptorOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let token = try TokenFile.read(file)
        try await decryptor.withDecryptorClient(global) { client in
            let response = try await client.verify(token.json, receivedAt: at)
            try global.printer.show(response.json) { [response.document.table] }
            guard response.document.verified else {
                throw CommandFailure(.failed, "the token is not verified; the failed checks are listed above")
            }
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct TokenVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a payment token's signature and time; exit status 1 where it fails.",
        discussion: "Needs no stored key and claims nothing.")

    @Argument(help: "The token, or '-'.")
    var file: String

    @Option(
        help: ArgumentHelp("The time of receipt to judge by, RFC 3339. Default: now.", valueName: "time"),
        transform: TimeArgument.parse)
    var at: Timestamp?

    @OptionGroup var decryptor: DecryptorOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let token = try TokenFile.read(file)
        try await decryptor.withDecryptor(global) { client in
            let answer = try await client.verify(token.json, receivedAt: at?.rfc3339)
            try global.printer.show(answer.json) { [answer.document.block] }
            guard answer.document.verified else { throw CommandFailure(.refused, "not verified") }
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollFinish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish", abstract: "Revoke the old key of a roll once it is quiet.",
        discussion: """
            The old key is quiet when nobody has requested it for 7 days and a token was decrypted with the new key. Before \
            that the command is refused, and says what is missing. 'key restore' undoes the revocation.
            """)

    @OptionGroup var choice: RollChoice

    @Flag(help: "Do not wait until the old key is quiet; needs --reason.")
    var now = false

    @Option(help: "Reason, recorded in the audit.")
    var reason: String?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard !now || reason != nil else {
            throw ValidationError("--now needs --reason")
        }
    }

    func run() async throws {
        try await global.withAdmin { admin in
            let roll = try await choice.find(admin)
            try await confirmation.run("finish roll \(roll.rollId) of \(roll.merchantIdentifier)", global.printer) {
                try await admin.finishRoll(roll.rollId, now: now, reason: reason, dryRun: $0)
            }
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollFinish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish",
        abstract: "Finish a roll: revoke its old key, if that key is no longer used, and generate the next key pair.",
        discussion: """
            The command generates key pairs with their CSRs for the merchant's next roll, until the merchant has as many \
            key pairs as its target. --dry-run shows how many.

            Without --now, the command succeeds only if the roll is quiet: a token was decrypted with the new key, and no \
            decryptor has asked for the old key or sent a token for it for 7 days (setting roll.quiet-period). If the command \
            is refused, the message says what is missing. 'key restore' undoes the revocation.
            """,
        examples: [
            "roll finish merchant.com.example --dry-run",
            "roll finish merchant.com.example --now --reason \"the old key was exported\"",
        ])

    @OptionGroup var selection: RollSelection

    @Flag(help: "Revoke the old key even if it may still be used; needs --reason.")
    var now = false

    @Option(help: "Reason, recorded in the audit.")
    var reason: String?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard !now || reason != nil else {
            throw ValidationError("--now needs --reason, which is recorded in the audit")
        }
    }

    func run() async throws {
        try await global.withAdminClient { admin in
            let roll = try await selection.find(admin)
            try await confirmation.run("finish roll \(roll.rollId) of \(roll.merchantIdentifier)", global.printer) {
                try await admin.finishRoll(roll.rollId, now: now, reason: reason, dryRun: $0)
            }
        }
    }
}

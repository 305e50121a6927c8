import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct RollFinish: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "finish",
        abstract: "Finish a roll: revoke its old key, if that key is no longer used, and generate the next key pair.",
        discussion: """
            The command also generates key pairs with their CSRs for the merchant's next roll, until the merchant has \
            as many key pairs as its target. --dry-run shows how many it would generate.

            Without --now, the command succeeds only if the roll is quiet: a token was decrypted with the new key, and \
            for 7 days (setting roll.quiet-period) no decryptor has requested the old key or sent a token for it. If \
            the command is refused, the message says which condition is not met. 'key restore' undoes the revocation.

            --all-quiet finishes the quiet rolls of all merchants. --dry-run lists these rolls.
            """,
        examples: [
            "roll finish merchant.com.example --dry-run",
            "roll finish merchant.com.example --now --reason \"the old key was exported\"",
            "roll finish --all-quiet --dry-run",
        ])

    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: """
            Algorithm of the roll: EC_v1 or RSA_v1. Needed only if the merchant has open rolls of both algorithms. \
            Default with --all-quiet: both.
            """)
    var algorithm: KeyAlgorithm?

    @Flag(help: "Finish every merchant's roll that is quiet.")
    var allQuiet = false

    @Flag(help: "Revoke the old key even if it may still be used; needs --reason.")
    var now = false

    @Option(help: "Reason, recorded in the audit.")
    var reason: String?

    @OptionGroup var confirmation: ConfirmationOptions
    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard (merchant == nil) == allQuiet else {
            throw ValidationError(
                merchant == nil
                    ? "name a MERCHANT, or use --all-quiet"
                    : "a MERCHANT can't be combined with --all-quiet; omit one of the two")
        }
        guard !now || !allQuiet else {
            throw ValidationError("--now can't be combined with --all-quiet, because a quiet roll needs no --now")
        }
        guard !now || reason != nil else {
            throw ValidationError("--now needs --reason, which is recorded in the audit")
        }
    }

    func run() async throws {
        guard let merchant else { return try await finishQuietRolls() }
        try await global.withAdminClient { admin in
            let roll = try await RollSelection.openRoll(of: merchant, algorithm, admin)
            try await confirmation.run("finish roll \(roll.rollId) of \(roll.merchantIdentifier)", global.printer) {
                try await admin.finishRoll(roll.rollId, now: now, reason: reason, dryRun: $0)
            }
        }
    }

    private func finishQuietRolls() async throws {
        let summary: BulkSummary? = try await global.withAdminClient(connections: bulk.concurrency) { admin in
            let quiet = try await QuietRolls(admin, algorithm: algorithm)
            let count = quiet.rolls.count
            let plan = "finish \(count.counted("roll and revoke its old key", "rolls and revoke their old keys"))"
            if confirmation.dryRun || !confirmation.yes {
                if global.output == .table { global.printer.show([RollDocument.table(quiet.rolls)]) }
            }
            if confirmation.dryRun {
                global.printer.showDryRun("would \(plan)", itemCount: count)
                return nil
            }
            if count > 0 { try confirmation.confirm(plan) }
            return try await quiet.finish(admin, reason: reason, bulk, isQuiet: global.quiet)
        }
        try summary?.printAndThrowIfFailed(global.printer)
    }
}

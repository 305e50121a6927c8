import ArgumentParser
import MerchantKeyClient
import WireAPI

struct BackupCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a backup while the daemon runs, and verify it.",
        discussion: """
            The daemon writes FILE as its own user, with mode 0600, and never replaces an existing FILE. The private keys in \
            the backup are sealed (encrypted), as in the database. The backup does not contain the master key, and is useless \
            without the master key. If the verification finds a fault, the exit status is 1, and the daemon renames FILE to \
            FILE.not-good, replacing an earlier file of that name. If the verification cannot run, FILE keeps its name: \
            run 'backup verify'.
            """,
        examples: ["backup create /var/backups/merchantkeyd/monday.backup"])

    @Argument(help: "The path of the new backup file, on the daemon's machine.", completion: .file())
    var file: String

    @Flag(help: "Do not verify the backup. 'status' ignores backups that are not verified.")
    var unverified = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let path = try BackupCommands.absolutePath(of: file)
        try await global.withAdminClient { admin in
            let created = try await admin.createBackup(at: path)
            guard !unverified else { return try global.printer.show(created.json) { created.document.blocks } }
            let verification: Response<BackupVerificationDocument>
            do { verification = try await admin.verifyBackup(path, renameIfNotGood: true) } catch {
                global.printer.note("\(path) was created, but not verified; run 'backup verify' to verify it")
                throw error
            }
            try global.printer.show(verification.json) { verification.document.blocks }
            try verification.document.throwUnlessGood(createdAs: path)
        }
    }
}

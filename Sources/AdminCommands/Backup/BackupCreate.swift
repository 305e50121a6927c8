import ArgumentParser
import MerchantKeyClient
import WireAPI

struct BackupCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a backup while the daemon runs, and verify it.",
        discussion: """
            The daemon writes FILE as its own user, with mode 0600, and never replaces an existing file. The private keys in \
            it are sealed, as in the database. The backup does not contain the master key, and is useless without it.
            """)

    @Argument(help: "A new file, on the daemon's machine.")
    var file: String

    @Flag(help: "Do not verify the backup. Only a verified backup counts in 'status'.")
    var unverified = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let path = try BackupNoun.absolute(file)
        try await global.withAdmin { admin in
            let created = try await admin.createBackup(at: path)
            guard !unverified else { return try global.printer.show(created.json) { created.document.blocks } }
            let verification: Response<BackupVerificationDocument>
            do { verification = try await admin.verifyBackup(path) } catch {
                global.printer.note("\(path) was created, but not verified; run 'backup verify' again")
                throw error
            }
            try global.printer.show(verification.json) { verification.document.blocks }
            try verification.document.requireGood()
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import WireAPI

struct BackupCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Write a backup while the daemon serves, and try it out.",
        discussion: """
            The daemon writes FILE, as its own user and with mode 0600; an existing file is never replaced. Private keys are \
            in it as they are in the database, sealed: without the master key, which is not in it, it opens nothing.
            """)

    @Argument(help: "A new file on the daemon's machine.")
    var file: String

    @Flag(help: "Do not try it out: until 'backup verify' has, it counts for nothing.")
    var unverified = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let path = try BackupNoun.absolute(file)
        try await global.withAdmin { admin in
            let made = try await admin.createBackup(at: path)
            guard !unverified else { return try global.printer.show(made.json) { made.document.blocks } }
            let verification: Answer<BackupVerificationDocument>
            do { verification = try await admin.verifyBackup(path) } catch {
                global.printer.remark("\(path) was made, but not tried out: 'backup verify' tries again")
                throw error
            }
            try global.printer.show(verification.json) { verification.document.blocks }
            try verification.document.requireGood()
        }
    }
}

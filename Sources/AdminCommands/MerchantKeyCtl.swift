import ArgumentParser
import Vocabulary

/// The root of the command tree.
struct MerchantKeyCtl: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "merchantkeyctl",
        abstract: "Onboards merchants, rolls their Apple Pay keys and watches them, through merchantkeyd.",
        discussion: """
            Exit status: 0 done; 1 refused or failed; 2 wrong usage; 3 the daemon can't be reached. \
            'status --check' alone follows monitoring's custom: 0 fine, 1 warning, 2 critical, 3 unknown.

            FILE may be '-' for standard input or output. KEY is a publicKeyHash as Base64, Base64url or hexadecimal \
            digits, or an unambiguous beginning of it of at least 4 characters; where it begins with '-', put '--' \
            before it.
            """,
        version: Program.version,
        subcommands: [
            MerchantNoun.self, KeyNoun.self, CertificateNoun.self, RollNoun.self, TokenNoun.self, RegistrationNoun.self,
            DomainNoun.self, StatusShow.self, EventNoun.self, AuditNoun.self, BackupNoun.self, MasterKeyNoun.self,
            ConfigNoun.self, Diagnose.self,
        ])

    // Declared here too, so that both stand before the noun as well as after the verb.
    @OptionGroup var global: GlobalOptions
}

/// A word that needs a verb after it.
protocol NounCommand: ParsableCommand {}

extension NounCommand {
    func run() throws {
        throw CommandFailure(.wrongUsage, MerchantKeyCtl.helpMessage(for: Self.self))
    }
}

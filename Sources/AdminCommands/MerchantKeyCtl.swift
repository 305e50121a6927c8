import ArgumentParser
import Vocabulary

/// The root of the command tree.
struct MerchantKeyCtl: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "merchantkeyctl",
        abstract: "Onboard merchants, roll their Apple Pay keys and watch expiry, through merchantkeyd.",
        discussion: """
            Exit status: 0 success; 1 refused or failed; 2 wrong usage; 3 the daemon can't be reached. 'status --check' follows \
            the monitoring convention instead: 0 OK, 1 warning, 2 critical, 3 unknown.

            FILE may be '-' for standard input or output. KEY is a publicKeyHash in Base64, Base64url or hexadecimal, or an \
            unambiguous prefix of at least 4 characters. If it begins with '-', put '--' before it.

            Example: merchantkeyctl merchant add merchant.com.example --name "Example Shop"
            """,
        version: Program.version,
        subcommands: [
            MerchantNoun.self, KeyNoun.self, CertificateNoun.self, RollNoun.self, TokenNoun.self, RegistrationNoun.self,
            DomainNoun.self, StatusShow.self, EventNoun.self, AuditNoun.self, BackupNoun.self, MasterKeyNoun.self,
            ConfigNoun.self, Diagnose.self,
        ])

    // Every subcommand declares these options too. Here, they permit the options before the noun.
    @OptionGroup var global: GlobalOptions
}

/// A command such as `merchant`, which does nothing without a subcommand. It then prints its help as an error.
protocol NounCommand: ParsableCommand {}

extension NounCommand {
    func run() throws {
        throw CommandFailure(.wrongUsage, MerchantKeyCtl.helpMessage(for: Self.self))
    }
}

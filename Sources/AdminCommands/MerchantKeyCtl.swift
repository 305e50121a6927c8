import ArgumentParser
import Vocabulary

/// The command `merchantkeyctl` itself, which contains all command groups.
struct MerchantKeyCtl: SubcommandGroup, AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merchantkeyctl",
        abstract: "Manage merchants, their Apple Pay keys and certificates, through the daemon merchantkeyd.",
        discussion: """
            Exit status: 0 success; 1 refused or failed; 2 wrong usage; 3 the daemon can't be reached. 'status \
            --check' has the exit statuses of a monitoring plugin instead: 0 OK, 1 warning, 2 critical, 3 unknown. \
            'config check' and 'diagnose' also have the exit status 4: the daemon would start, but a setting does not \
            work or could not be checked.

            FILE may be '-' for standard input or output. KEY is a key's publicKeyHash in Base64, Base64url or hexadecimal, or \
            its first characters: at least 4, and enough to match only one key. If these characters begin with '-', put '--' \
            before them.

            Example: merchantkeyctl merchant add merchant.com.example --name "Example Shop"
            """,
        version: Program.version,
        subcommands: [
            MerchantCommands.self, KeyCommands.self, CertificateCommands.self, RollCommands.self, TokenCommands.self,
            SessionCommands.self, MerchantTokenCommands.self,
            ProvisioningCommands.self, RegistrationCommands.self, DomainCommands.self, AccessCommands.self,
            InviteCommands.self, Console.self,
            StatusShow.self, EventCommands.self, WebhookCommands.self, AuditCommands.self, BackupCommands.self,
            MasterKeyCommands.self, NodeCommands.self, StoreCommands.self, ConfigCommands.self, Reload.self,
            Diagnose.self,
        ])

    // Every subcommand declares these options too. This declaration accepts them before the command group as well, as
    // in `merchantkeyctl --output json key list`.
    @OptionGroup var global: GlobalOptions

    /// Both protocols have a default implementation of this method, so this type must define its own. The type conforms
    /// to `AsyncParsableCommand` because shell completions ask the daemon asynchronously.
    func run() throws { throw CommandFailure(.wrongUsage, Self.helpMessage(for: Self.self)) }
}

/// A command such as `merchant` that only contains subcommands. Without a subcommand it prints its help as an error.
protocol SubcommandGroup: ParsableCommand {}

extension SubcommandGroup {
    func run() throws {
        throw CommandFailure(.wrongUsage, MerchantKeyCtl.helpMessage(for: Self.self))
    }
}

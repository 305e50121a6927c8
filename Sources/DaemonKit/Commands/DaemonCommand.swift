import ArgumentParser
import FoundationEssentials
import Logging
import Vocabulary

struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merchantkeyd",
        abstract: "Manage the key pairs of Apple Pay merchants and decrypt payment tokens.",
        discussion: """
            Without --config the daemon serves only root and the user that runs it. Its database, the sockets \
            admin.sock and decryptor.sock and its other files are then in $XDG_STATE_HOME/merchantkeyd. Exit status: \
            0 clean exit, 1 failed or could not start, 2 wrong usage. The subcommands are for merchantkeyctl, which \
            calls them for operations that need no running daemon.
            """,
        version: Program.version,
        subcommands: [
            BackupVerifyCommand.self, BackupRestoreCommand.self, ConfigCheckCommand.self, DiagnoseCommand.self,
            MasterKeyIdentifyCommand.self,
        ])

    @OptionGroup var settingsOptions: SettingsOptions

    @Flag(
        help: """
            Start although the database lacks changes that it once contained, for example because its write-ahead log \
            is missing. The daemon records the loss in the audit.
            """)
    var acceptOlderDatabase = false

    func run() async throws {
        let settings = try settingsOptions.settings()
        var logger = Logger(label: "merchantkeyd") { _ in LogfmtHandler() }
        logger.logLevel = settings.logLevel
        if settingsOptions.config == nil {
            logger.notice(
                "no configuration file: using the defaults, with which the daemon serves only root and the user that runs it",
                metadata: ["stateDirectory": "\(settings.stateDirectory)"])
        }
        try await Daemon.run(settings, acceptsOlderDatabase: acceptOlderDatabase, logger: logger)
    }
}

/// The options that name the settings and the state directory.
struct SettingsOptions: ParsableArguments {
    @Option(help: "The YAML file with the settings; etc/merchantkeyd.yaml lists every setting.")
    var config: String?

    @Option(help: "The directory with the database, lock file, master key and sockets, mode 0700.")
    var stateDirectory: String?

    func settings() throws -> Settings {
        try Settings.read(
            file: config, stateDirectory: stateDirectory, environment: ProcessInfo.processInfo.environment)
    }
}

import ArgumentParser
import FoundationEssentials
import Logging
import Vocabulary

struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merchantkeyd",
        abstract: "Manage the key pairs of Apple Pay merchants and serve the processes that decrypt payment tokens.",
        discussion: """
            Without --config the daemon serves one user: its state, with the sockets admin.sock and decryptor.sock, is in \
            $XDG_STATE_HOME/merchantkeyd. Exit status: 0 clean exit, 1 failed or could not start, 2 wrong usage. \
            merchantkeyctl calls the subcommands for what works without a running daemon.
            """,
        version: Program.version,
        subcommands: [
            BackupVerifyCommand.self, BackupRestoreCommand.self, ConfigCheckCommand.self, DiagnoseCommand.self,
            MasterKeyIdentifyCommand.self,
        ])

    @OptionGroup var place: PlaceOptions

    @Flag(
        help: """
            Start with a database that lacks changes it once held, for example because its write-ahead log is missing. \
            The loss is recorded in the audit.
            """)
    var acceptOlderDatabase = false

    func run() async throws {
        let settings = try place.settings()
        var logger = Logger(label: "merchantkeyd") { _ in LogfmtHandler() }
        logger.logLevel = settings.logLevel
        if place.config == nil {
            logger.notice(
                "no configuration file: using the defaults for one user",
                metadata: ["stateDirectory": "\(settings.stateDirectory)"])
        }
        try await Daemon.run(settings, acceptsOlder: acceptOlderDatabase, logger: logger)
    }
}

/// The options that name the settings and the state directory.
struct PlaceOptions: ParsableArguments {
    @Option(help: "The YAML file with the settings; etc/merchantkeyd.yaml lists every setting.")
    var config: String?

    @Option(help: "The directory for database, lock, master key and sockets, mode 0700.")
    var stateDirectory: String?

    func settings() throws -> Settings {
        try Settings.read(
            file: config, stateDirectory: stateDirectory, environment: ProcessInfo.processInfo.environment)
    }
}

import AppleGateway
import ArgumentParser
import FoundationEssentials
import Logging
import Tracing
import Vocabulary

struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merchantkeyd",
        abstract: "Manage the key pairs of Apple Pay merchants and decrypt payment tokens.",
        discussion: """
            Without --config the daemon serves only root and the user that runs it. Its database, the sockets \
            admin.sock and decryptor.sock and its other files are then in $XDG_STATE_HOME/merchantkeyd. Exit status: \
            0 clean exit, 1 failed or could not start, 2 wrong usage. 'migrate' upgrades the schema of a PostgreSQL \
            database. The other subcommands are for merchantkeyctl, which calls them for operations that need no running \
            daemon.
            """,
        version: Program.version,
        subcommands: [
            BackupVerifyCommand.self, BackupRestoreCommand.self, ConfigCheckCommand.self, DiagnoseCommand.self,
            MasterKeyIdentifyCommand.self, MigrateCommand.self, ReloadCommand.self, SettingsListCommand.self,
            StoreCopyCommand.self,
        ])

    @OptionGroup var settingsOptions: SettingsOptions

    @Flag(
        help: """
            Start although the database lacks changes that it once contained, for example because its write-ahead log \
            is missing. The daemon records the loss in the audit.
            """)
    var acceptOlderDatabase = false

    func run() async throws {
        // The next three statements come first: no other thread may read the environment before them, and no signal may
        // terminate the process before it is handled.
        let systemd = SystemdEnvironment.take()
        SharedURLStorage.createWithoutDirectories()
        let lifecycle = Lifecycle(systemd: systemd, signals: await DaemonSignals())
        let prepared = try PreparedStart(settingsOptions.settings(), for: .start, inheriting: systemd.sockets)
        let settings = prepared.settings
        let live = LiveSettings(prepared)
        let logger = settings.log.logger(ProcessInfo.processInfo.environment) { live.logLevel }
        // The library has one tracer for the whole process. Without a tracer, spans cost almost nothing.
        if settings.log.logsSpans { InstrumentationSystem.bootstrap(LogTracer(logger)) }
        if settingsOptions.config == nil {
            logger.notice(
                "no configuration file: using the defaults, with which the daemon serves only root and the user that runs it",
                metadata: ["stateDirectory": "\(settings.stateDirectory)"])
        }
        try await Daemon.run(
            prepared, live, acceptsOlderDatabase: acceptOlderDatabase, lifecycle: lifecycle, logger: logger)
    }
}

/// The options that name the settings and the state directory.
struct SettingsOptions: ParsableArguments {
    @Option(
        help: "The YAML file with the settings; docs/settings.md and 'man merchantkeyd.yaml' list every setting.",
        completion: .file(extensions: ["yaml", "yml"]))
    var config: String?

    @Option(
        help: "The directory with the database, lock file, master key and sockets, mode 0700.",
        completion: .directory)
    var stateDirectory: String?

    /// - Parameter variables: the environment variables.
    func settings(_ variables: [String: String] = ProcessInfo.processInfo.environment) throws -> Settings {
        try Settings.read(file: config, stateDirectory: stateDirectory, environment: variables)
    }
}

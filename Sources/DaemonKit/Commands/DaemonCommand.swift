import ArgumentParser
import Foundation
import Logging
import Vocabulary

struct DaemonCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merchantkeyd",
        abstract: "Holds the key pairs of Apple Pay merchants and answers the processes that decrypt payment tokens.",
        discussion: """
            Without --config it runs for one user: state under $XDG_STATE_HOME/merchantkeyd, with the sockets admin.sock \
            and decryptor.sock in it. Exit status: 0 ended in order, 1 could not start or failed, 2 wrong usage. The \
            subcommands are what merchantkeyctl calls where no daemon needs to run.
            """,
        version: Program.version,
        subcommands: [
            BackupVerifyCommand.self, BackupRestoreCommand.self, ConfigCheckCommand.self, DiagnoseCommand.self,
            MasterKeyIdentifyCommand.self,
        ])

    @OptionGroup var place: PlaceOptions

    @Flag(
        help: """
            Start with a database that is older than it once was: the last audit head that was shipped, or its \
            write-ahead log, is not in it. It is audited.
            """)
    var acceptOlderDatabase = false

    func run() async throws {
        let settings = try place.settings()
        var logger = Logger(label: "merchantkeyd") { _ in LogfmtHandler() }
        logger.logLevel = settings.logLevel
        if place.config == nil {
            logger.notice(
                "no configuration file: running for one user",
                metadata: ["stateDirectory": "\(settings.stateDirectory)"])
        }
        try await Daemon.run(settings, acceptsOlder: acceptOlderDatabase, logger: logger)
    }
}

/// Where settings and state are.
struct PlaceOptions: ParsableArguments {
    @Option(help: "The YAML file with the settings; etc/merchantkeyd.yaml lists them all.")
    var config: String?

    @Option(help: "The directory for database, lock, master key and sockets, mode 0700.")
    var stateDirectory: String?

    func settings() throws -> Settings {
        try Settings.read(
            file: config, stateDirectory: stateDirectory, environment: ProcessInfo.processInfo.environment)
    }
}

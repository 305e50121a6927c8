import ArgumentParser
import Foundation
import Glibc
import Logging
import MerchantCore
import Vocabulary

/// The program `merchantkeyd`: runs in the foreground until SIGTERM.
package enum DaemonProgram {
    /// Parses the command line, runs, and ends the process: 0 ended in order, 1 could not start or failed, 2 wrong usage.
    package static func start() async -> Never {
        do {
            let command = try DaemonCommand.parse()
            try await command.run()
            exit(0)
        } catch let error as SettingsError {
            fail(error.description)
        } catch let error as MerchantError {
            fail(error.detail)
        } catch {
            switch DaemonCommand.exitCode(for: error) {
            case .success:
                print(DaemonCommand.fullMessage(for: error))
                exit(0)
            case .validationFailure:
                complain(DaemonCommand.fullMessage(for: error))
                exit(2)
            default: fail("\(error)")
            }
        }
    }

    private static func fail(_ text: String) -> Never {
        complain("merchantkeyd: \(text)")
        exit(1)
    }

    private static func complain(_ text: String) {
        FileHandle.standardError.write(Data("\(text)\n".utf8))
    }
}

struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merchantkeyd",
        abstract: "Holds the key pairs of Apple Pay merchants and answers the processes that decrypt payment tokens.",
        discussion: """
            Without --config it runs for one user: state under $XDG_STATE_HOME/merchantkeyd, with the sockets admin.sock \
            and decryptor.sock in it. Exit status: 0 ended in order, 1 could not start or failed, 2 wrong usage.
            """,
        version: Program.version)

    @Option(help: "The YAML file with the settings; etc/merchantkeyd.yaml lists them all.")
    var config: String?

    @Option(help: "The directory for database, lock, master key and sockets, mode 0700.")
    var stateDirectory: String?

    func run() async throws {
        let settings = try Settings.read(
            file: config, stateDirectory: stateDirectory, environment: ProcessInfo.processInfo.environment)
        var logger = Logger(label: "merchantkeyd") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = settings.logLevel
        if config == nil {
            logger.notice(
                "no configuration file: running for one user",
                metadata: ["stateDirectory": "\(settings.stateDirectory)"])
        }
        try await Daemon.run(settings, logger: logger)
    }
}

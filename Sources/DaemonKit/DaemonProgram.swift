import ArgumentParser
import Glibc
import MerchantCore
import Vocabulary

/// The program `merchantkeyd`: runs in the foreground until SIGTERM, SIGINT or SIGQUIT.
package enum DaemonProgram {
    /// Parses the command line, runs the daemon or the subcommand, and ends the process with status 0 (clean exit), 1
    /// (failed) or 2 (wrong usage).
    package static func start() async -> Never {
        do {
            var command = try DaemonCommand.parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            exit(0)
        } catch let error as SettingsError {
            for problem in error.problems.dropLast() { write(problem) }
            fail(error.problems.last ?? "the settings cannot be used")
        } catch let error as StartRefusal {
            fail(error.description)
        } catch let error as MerchantError {
            fail(error.detail)
        } catch let error as ChecksFailed {
            exit(error.status)
        } catch {
            switch DaemonCommand.exitCode(for: error) {
            case .success:
                print(DaemonCommand.fullMessage(for: error))
                exit(0)
            case .validationFailure:
                StandardError.write("\(DaemonCommand.fullMessage(for: error))\n")
                exit(2)
            default: fail("\(error)")
            }
        }
    }

    private static func fail(_ text: String) -> Never {
        write(text)
        exit(1)
    }

    private static func write(_ text: String) { StandardError.write("merchantkeyd: \(text)\n") }
}

/// The error with which a subcommand ends after it has printed which checks failed.
struct ChecksFailed: Error {
    /// The exit status of the program.
    var status: Int32 = 1
}

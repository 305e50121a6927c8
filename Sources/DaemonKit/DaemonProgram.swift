import ArgumentParser
import Glibc
import MerchantCore
import Vocabulary

/// The program `merchantkeyd`: runs in the foreground until SIGTERM, SIGINT or SIGQUIT.
package enum DaemonProgram {
    /// Parses the command line, runs the daemon or the subcommand, and exits with status 0 (success), 1 (failed), 2
    /// (wrong usage) or the status of ``ChecksFailed``.
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
            fail(error.problems)
        } catch let error as StartRefusal {
            fail([error.description])
        } catch let error as MerchantError {
            fail([error.detail], code: error.code.rawValue)
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
            default: fail(["\(error)"])
            }
        }
    }

    /// Writes what went wrong to standard error: one line for each problem, or one JSON object if the command line
    /// requests JSON.
    private static func fail(_ problems: [String], code: String = "failed") -> Never {
        let document = SubcommandFailure(problems, code: code, exitStatus: 1)
        let lines = reportsJSON ? [document.json] : problems.map { "merchantkeyd: \($0)" }
        for line in lines { StandardError.write("\(line)\n") }
        exit(1)
    }

    /// Whether the arguments contain `--output json` as two arguments, the form in which `merchantkeyctl` passes the
    /// option.
    private static var reportsJSON: Bool {
        zip(CommandLine.arguments, CommandLine.arguments.dropFirst()).contains { $0 == "--output" && $1 == "json" }
    }
}

/// The error that a subcommand throws after it has printed which checks failed or gave a warning.
struct ChecksFailed: Error {
    /// The exit status of the program.
    var status: Int32 = 1
}

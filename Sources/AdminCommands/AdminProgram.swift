import ArgumentParser
import FoundationEssentials
import Glibc
import MerchantKeyClient
import Vocabulary

/// The program `merchantkeyctl`: parses the command line, runs the command and determines the exit status.
package enum AdminProgram {
    package static func main() async {
        let status = await run(Array(CommandLine.arguments.dropFirst()))
        exit(status.rawValue)
    }

    static func run(_ arguments: [String]) async -> ExitStatus {
        var command: any ParsableCommand
        do {
            command = try MerchantKeyCtl.parseAsRoot(arguments)
        } catch {
            return report(otherError: error)
        }
        do {
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .done
        } catch let failure as CommandFailure {
            return report(failure)
        } catch let error as ClientError {
            return report(CommandFailure(error))
        } catch let exit as MonitoringExit {
            // A monitoring plugin gives the statuses 0 to 3 other meanings. Here only the raw values of ``ExitStatus``
            // matter, not the names of its cases.
            return ExitStatus(rawValue: exit.status) ?? .unreachable
        } catch {
            return report(otherError: error)
        }
    }

    private static func report(_ failure: CommandFailure) -> ExitStatus {
        StandardStream.error.write(failure.message.printable(keepingLines: true) + "\n")
        return failure.status
    }

    /// Reports an error of the argument parser, or an unexpected error of a command. If the user requests help, the
    /// parser throws the help as an error: then this function prints the help to standard output and returns exit
    /// status 0.
    private static func report(otherError error: any Error) -> ExitStatus {
        let message = MerchantKeyCtl.fullMessage(for: error)
        guard !MerchantKeyCtl.exitCode(for: error).isSuccess else {
            if !message.isEmpty { StandardStream.output.write(message + "\n") }
            return .done
        }
        StandardStream.error.write(message.printable(keepingLines: true) + "\n")
        return MerchantKeyCtl.exitCode(for: error) == .validationFailure ? .wrongUsage : .refused
    }
}

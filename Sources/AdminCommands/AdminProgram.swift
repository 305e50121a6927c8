import ArgumentParser
import FoundationEssentials
import Glibc
import MerchantKeyClient
import Vocabulary

/// Runs `merchantkeyctl`: takes its arguments, and returns its exit status.
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
            return report(parserError: error)
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
            return ExitStatus(rawValue: exit.status) ?? .unreachable
        } catch {
            return report(parserError: error)
        }
    }

    private static func report(_ failure: CommandFailure) -> ExitStatus {
        StandardStream.error.write(failure.message.printable(keepingLines: true) + "\n")
        return failure.status
    }

    /// Requested help is a result; everything else that the parser reports is wrong usage.
    private static func report(parserError error: any Error) -> ExitStatus {
        let message = MerchantKeyCtl.fullMessage(for: error)
        guard !MerchantKeyCtl.exitCode(for: error).isSuccess else {
            if !message.isEmpty { StandardStream.output.write(message + "\n") }
            return .done
        }
        StandardStream.error.write(message.printable(keepingLines: true) + "\n")
        return MerchantKeyCtl.exitCode(for: error) == .validationFailure ? .wrongUsage : .refused
    }
}

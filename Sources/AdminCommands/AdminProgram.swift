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
        let format = OutputFormat.requested(by: arguments)
        var command: any ParsableCommand
        do {
            command = try await MerchantKeyCtl.asyncParseAsRoot(Self.withoutHyphenBeforeHash(arguments))
        } catch {
            return report(otherError: error, format, isMonitoringCheck: isMonitoringCheck(arguments))
        }
        do {
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            return .done
        } catch let failure as CommandFailure {
            return report(failure, format)
        } catch let error as ClientError {
            return report(CommandFailure(error), format)
        } catch let exit as MonitoringExit {
            // For a monitoring plugin, the statuses 0 to 3 have other meanings. Here only the raw values of
            // ``ExitStatus`` are used, not the names of its cases.
            return ExitStatus(rawValue: exit.status) ?? .unreachable
        } catch {
            return report(otherError: error, format)
        }
    }

    /// Whether the arguments are those of `status --check`, whose exit statuses have other meanings: see
    /// ``MonitoringExit``.
    private static func isMonitoringCheck(_ arguments: [String]) -> Bool {
        var words = arguments[...]
        while let word = words.first, word.hasPrefix("-") {
            words = words.dropFirst(["--socket", "--output", "-o", "--columns"].contains(word) ? 2 : 1)
        }
        return words.first == "status" && arguments.contains("--check")
    }

    /// Converts each Base64url publicKeyHash that begins with a hyphen to standard Base64, where the hash begins with
    /// `+`. One in 64 hashes begins with a hyphen, and the argument parser would read such a hash as an option.
    ///
    /// Arguments after `--` are never options, so they stay as they are.
    static func withoutHyphenBeforeHash(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments[..<end].map { argument in
            guard argument.hasPrefix("-"), let hash = PublicKeyHash(anySpelling: argument) else { return argument }
            return hash.base64
        } + arguments[end...]
    }

    private static func report(_ failure: CommandFailure, _ format: OutputFormat) -> ExitStatus {
        let text =
            switch format {
            case .table: failure.message.printable(keepingLines: true)
            case .json: ErrorDocument(failure).json
            }
        StandardStream.error.write(text + "\n")
        return failure.status
    }

    /// Reports an error of the argument parser, or an unexpected error of a command. If the user requests help, the
    /// parser throws the help as an error: then this function prints the help to standard output and returns exit
    /// status 0.
    private static func report(
        otherError error: any Error, _ format: OutputFormat, isMonitoringCheck: Bool = false
    ) -> ExitStatus {
        let message = MerchantKeyCtl.fullMessage(for: error)
        guard !MerchantKeyCtl.exitCode(for: error).isSuccess else {
            if !message.isEmpty { StandardStream.output.write(message + "\n") }
            return .done
        }
        let status: ExitStatus =
            MerchantKeyCtl.exitCode(for: error) == .validationFailure ? .wrongUsage : .failed
        // The JSON form omits the usage, which is text for people.
        let text = format == .json ? MerchantKeyCtl.message(for: error) : message
        let failure = CommandFailure(status, text)
        guard isMonitoringCheck, status == .wrongUsage else { return report(failure, format) }
        // A monitoring system reads 2, the status for wrong usage, as critical. 3 is unknown.
        switch format {
        case .table:
            let reason = MerchantKeyCtl.message(for: error).printable(keepingLines: false)
            StandardStream.output.write("merchantkeyd UNKNOWN: \(reason)\n")
        case .json: StandardStream.error.write(ErrorDocument(failure, exitStatus: 3).json + "\n")
        }
        return .unreachable
    }
}

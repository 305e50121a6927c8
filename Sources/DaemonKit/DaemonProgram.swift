import ArgumentParser
import Foundation
import Glibc
import MerchantCore
import Vocabulary

/// The program `merchantkeyd`: runs in the foreground until SIGTERM.
package enum DaemonProgram {
    /// Parses the command line, runs, and ends the process: 0 ended in order, 1 could not start or failed, 2 wrong usage.
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
            fail(error.description)
        } catch let error as MerchantError {
            fail(error.detail)
        } catch is NotGood {
            exit(1)
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

/// What was asked for was done, and the answer is no; it has been printed.
struct NotGood: Error {}

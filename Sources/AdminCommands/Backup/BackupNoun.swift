import ArgumentParser
import Foundation

struct BackupNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copies of the database for the bad day; never of the master key.",
        subcommands: [BackupCreate.self, BackupVerify.self, BackupRestore.self])

    /// The daemon does not know our working directory.
    static func absolute(_ file: String) throws(CommandFailure) -> String {
        guard file != "-" else {
            throw CommandFailure(.wrongUsage, "FILE is '-', expected a name: the daemon writes the file, or reads it")
        }
        return file.hasPrefix("/") ? file : "\(FileManager.default.currentDirectoryPath)/\(file)"
    }
}

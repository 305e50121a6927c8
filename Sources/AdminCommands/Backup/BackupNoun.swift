import ArgumentParser
import Foundation

struct BackupNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Create, verify and restore backups of the database. Backups never contain the master key.",
        subcommands: [BackupCreate.self, BackupVerify.self, BackupRestore.self])

    /// Makes a path absolute, because the daemon opens the file and has another working directory.
    static func absolute(_ file: String) throws(CommandFailure) -> String {
        guard file != "-" else {
            throw CommandFailure(.wrongUsage, "FILE is '-', expected a path, because the daemon opens the file")
        }
        return file.hasPrefix("/") ? file : "\(FileManager.default.currentDirectoryPath)/\(file)"
    }
}

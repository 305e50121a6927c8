import ArgumentParser
import Foundation

struct BackupCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Create, verify and restore backups of the database. Backups never contain the master key.",
        subcommands: [BackupCreate.self, BackupVerify.self, BackupRestore.self])

    /// The absolute path of a file. If the daemon opens the file, its working directory is another one than that of
    /// this program.
    static func absolutePath(of file: String) throws(CommandFailure) -> String {
        guard file != "-" else {
            throw CommandFailure(
                .wrongUsage, "FILE can't be '-', because the daemon opens the file; give the path of a file")
        }
        return file.hasPrefix("/") ? file : "\(FileManager.default.currentDirectoryPath)/\(file)"
    }
}

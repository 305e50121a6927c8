import ArgumentParser

struct BackupRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the database with a backup; the daemon must be stopped.",
        discussion: """
            Every change made after the backup is undone, including revocations. The backup is verified first: if the master \
            key is wrong or the backup is damaged, nothing is changed. If the restore is interrupted, run the same command \
            again to finish the restore.
            """,
        examples: ["backup restore /var/backups/merchantkeyd/monday.backup --replace"])

    @Argument(help: "The backup file.", completion: .file())
    var file: String

    @Flag(help: "Move an existing database to another directory first. Default: refuse to replace a database.")
    var replace = false

    @Flag(help: "Restore the backup even if its verification fails; only as a last resort.")
    var acceptFindings = false

    @Option(
        help: ArgumentHelp(
            "Read the master key from this file. Default: the source of the master key in the settings.",
            discussion:
                "A backup that was created during a rotation of the master key needs the old and the new master key: give the option twice.",
            valueName: "file"), completion: .file())
    var masterKeyFile: [String] = []

    @OptionGroup var paths: DaemonPathOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        var arguments = ["backup-restore", try BackupCommands.absolutePath(of: file)]
        if replace { arguments.append("--replace") }
        if acceptFindings { arguments.append("--accept-findings") }
        for file in masterKeyFile { arguments += ["--master-key-file", file] }
        try DaemonProgram.execute(arguments + paths.arguments(global) + global.outputArguments)
    }
}

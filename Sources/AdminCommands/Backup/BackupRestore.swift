import ArgumentParser

struct BackupRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Replace the database with a backup; the daemon must be stopped.",
        discussion: """
            The master key is read from where the settings say, or from --master-key-file. The backup is verified first: with \
            a wrong master key or a damaged backup nothing changes. If the restore is interrupted, run it again to finish it. \
            Every change made after the backup is undone, including revocations.
            """)

    @Argument(help: "The backup file.")
    var file: String

    @Flag(help: "Move an existing database aside.")
    var replace = false

    @Flag(help: "Restore a backup even if its verification fails; only as a last resort.")
    var acceptFindings = false

    @Option(
        help: ArgumentHelp(
            "File of the master key. Default: as in the settings.",
            discussion: "Repeat the option for a backup that was created during a rotation of the master key.",
            valueName: "file"))
    var masterKeyFile: [String] = []

    @OptionGroup var paths: DaemonPathOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        var arguments = ["backup-restore", try BackupNoun.absolute(file)]
        if replace { arguments.append("--replace") }
        if acceptFindings { arguments.append("--accept-findings") }
        for file in masterKeyFile { arguments += ["--master-key-file", file] }
        try DaemonProgram.execute(arguments + paths.arguments + global.outputArguments)
    }
}

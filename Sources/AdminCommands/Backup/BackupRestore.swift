import ArgumentParser

struct BackupRestore: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a backup in the place of the database; the daemon must not run.",
        discussion: """
            The master key must be in its place, or be named. The backup is tried out before anything is touched; a wrong \
            master key or a damaged backup changes nothing. Whenever it is cut short, running it again finishes it. What \
            was done after the backup was made is undone, revocations too.
            """)

    @Argument(help: "A backup.")
    var file: String

    @Flag(help: "Move a database that is there aside.")
    var replace = false

    @Flag(help: "Restore a backup that is not good all the same: the last resort.")
    var acceptFindings = false

    @Option(
        help: ArgumentHelp(
            "The master key; default: the settings'.",
            discussion: "Again for a second one, where the backup was made during a rotation.", valueName: "file"))
    var masterKeyFile: [String] = []

    @OptionGroup var place: PlaceOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        var arguments = ["backup-restore", try BackupNoun.absolute(file)]
        if replace { arguments.append("--replace") }
        if acceptFindings { arguments.append("--accept-findings") }
        for file in masterKeyFile { arguments += ["--master-key-file", file] }
        try DaemonProgram.become(arguments + place.arguments + global.outputArguments)
    }
}

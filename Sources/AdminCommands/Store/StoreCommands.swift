import ArgumentParser

struct StoreCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "Move the daemon's data between SQLite and PostgreSQL.",
        subcommands: [StoreCopy.self])
}

struct StoreCopy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy", abstract: "Copy all data from SQLite to PostgreSQL or back; all daemons must be stopped.",
        discussion: """
            Each option names a settings file: one with 'store.kind: sqlite', the other with 'store.kind: \
            postgresql'. Both need the same master key. The target must be empty. The command compares every table of \
            the copy with the source, verifies the audit chain and unseals every key; only then can a daemon use the \
            copy. The source is not changed. If the copy is interrupted, run the same command again to continue it. \
            Run it as the daemon's user or as root, on the machine with the SQLite database. Environment variables \
            that set settings are ignored. Exit status: 0, or 1 if the copy was refused, was interrupted or failed its \
            verification.
            """,
        examples: ["store copy --from /etc/merchantkeyd/merchantkeyd.yaml --to /etc/merchantkeyd/postgresql.yaml"])

    @Option(
        help: ArgumentHelp("The settings file of the daemon that has the data.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var from: String

    @Option(
        help: ArgumentHelp("The settings file of the daemon that gets the data.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var to: String

    @Option(
        help: ArgumentHelp(
            "Read the master key from this file. Default: the sources of the master key in both settings files.",
            discussion: """
                Use this option if the master key is in a systemd credential, which only the daemon's process can \
                read. During a rotation of the master key, give the option twice.
                """,
            valueName: "file"), completion: .file())
    var masterKeyFile: [String] = []

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try DaemonProgram.execute(
            ["store-copy", "--from", from, "--to", to] + masterKeyFile.flatMap { ["--master-key-file", $0] }
                + global.outputArguments)
    }
}

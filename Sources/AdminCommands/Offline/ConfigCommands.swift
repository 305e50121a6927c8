import ArgumentParser

struct ConfigCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the daemon's settings.", subcommands: [ConfigCheck.self])
}

struct ConfigCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check whether the daemon would start, and print every setting.",
        discussion: """
            Checks the settings, the environment variables and the files that they name, as the daemon does when it \
            starts. If all of them are right, also checks whether another program uses the ports and sockets, whether \
            the database can be opened, and whether the master key fits the database; on PostgreSQL, connects to the \
            server. Changes nothing. \
            Run it as the daemon's user or as root, on the daemon's machine. Exit status: \
            0 if the daemon would start; 1 if it would refuse to start; 4 if it would start, but a setting does not \
            work or could not be checked. For example, a systemd credential can't be checked, because only the \
            daemon's process can read it.
            """,
        examples: ["config check --config /etc/merchantkeyd/merchantkeyd.yaml"])

    @Flag(
        help:
            "Also run the commands of the settings master-key.command and master-key.previous.command, as a start does."
    )
    var runCommands = false

    @OptionGroup var paths: DaemonPathOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try DaemonProgram.execute(
            ["config-check"] + (runCommands ? ["--run-commands"] : []) + paths.arguments(global)
                + global.outputArguments)
    }
}

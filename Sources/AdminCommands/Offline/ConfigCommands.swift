import ArgumentParser

struct ConfigCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the daemon's settings.", subcommands: [ConfigCheck.self])
}

struct ConfigCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check everything that a start of the daemon reads, and print every setting.",
        discussion: """
            Reads the settings, the environment variables and all files that they name, as a start does, and changes \
            nothing. Run it as the daemon's user or as root, on the daemon's machine. Exit status: 0 if the daemon \
            would start, 1 if a start is refused, 4 if the daemon would start but a setting does not work, or if a setting could \
            not be checked, such as a systemd credential that only the daemon's process can read.
            """,
        examples: ["config check --config /etc/merchantkeyd/merchantkeyd.yaml"])

    @Flag(help: "Also run the command of the setting master-key.command, as a start does.")
    var runCommands = false

    @OptionGroup var paths: DaemonPathOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        try DaemonProgram.execute(
            ["config-check"] + (runCommands ? ["--run-commands"] : []) + paths.arguments(global)
                + global.outputArguments)
    }
}

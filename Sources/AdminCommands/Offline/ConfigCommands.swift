import ArgumentParser

struct ConfigCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the daemon's settings.", subcommands: [ConfigCheck.self])
}

struct ConfigCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Read the settings as the daemon does, and report errors.")

    @OptionGroup var paths: DaemonPathOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws { try DaemonProgram.execute(["config-check"] + paths.arguments + global.outputArguments) }
}

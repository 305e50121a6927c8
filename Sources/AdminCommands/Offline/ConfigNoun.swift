import ArgumentParser

struct ConfigNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "The daemon's settings.", subcommands: [ConfigCheck.self])
}

struct ConfigCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Read the settings as the daemon would, and say what is wrong.")

    @OptionGroup var place: PlaceOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws { try DaemonProgram.become(["config-check"] + place.arguments + global.outputArguments) }
}

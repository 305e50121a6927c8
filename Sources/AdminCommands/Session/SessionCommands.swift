import ArgumentParser

struct SessionCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "session", abstract: "Request merchant sessions from Apple.", subcommands: [SessionRequest.self])
}

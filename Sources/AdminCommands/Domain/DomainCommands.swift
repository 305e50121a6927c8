import ArgumentParser

struct DomainCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "domain", abstract: "Manage the domain verification file, and check domains.",
        subcommands: [DomainFileCommand.self, DomainCheck.self])
}

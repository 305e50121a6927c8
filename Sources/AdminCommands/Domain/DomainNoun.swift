import ArgumentParser

struct DomainNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "domain", abstract: "What a merchant's domain must serve before Apple registers it.",
        subcommands: [DomainFileCommand.self, DomainCheck.self])
}

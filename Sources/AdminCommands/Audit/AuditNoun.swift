import ArgumentParser

struct AuditNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Who did what, when and why.", subcommands: [AuditList.self])
}

import ArgumentParser

struct NodeCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "node", abstract: "List the daemons that share a PostgreSQL database.",
        subcommands: [NodeList.self])
}

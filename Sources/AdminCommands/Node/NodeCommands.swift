import ArgumentParser

struct NodeCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "node", abstract: "List and remove the daemons that share a PostgreSQL database.",
        subcommands: [NodeList.self, NodeRemove.self])
}

import ArgumentParser

struct NodeCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "node",
        abstract: "List the daemons that share a PostgreSQL database, and remove entries of stopped ones.",
        subcommands: [NodeList.self, NodeRemove.self])
}

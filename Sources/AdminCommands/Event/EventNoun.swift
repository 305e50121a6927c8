import ArgumentParser

struct EventNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "What operators must know of or act on.",
        subcommands: [EventList.self, EventRedeliver.self])
}

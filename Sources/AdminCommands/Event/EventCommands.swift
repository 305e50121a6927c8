import ArgumentParser

struct EventCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "event", abstract: "List events, and deliver them to webhooks again.",
        subcommands: [EventList.self, EventRedeliver.self])
}

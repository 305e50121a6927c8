import ArgumentParser

struct WebhookCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "List and test the webhooks that receive events.",
        discussion: "The setting events.webhooks defines the webhooks.",
        subcommands: [WebhookList.self, WebhookTest.self])
}

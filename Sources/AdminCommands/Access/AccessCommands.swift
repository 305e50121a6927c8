import ArgumentParser

struct AccessCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "access", abstract: "Manage the machines that may call the portal.",
        discussion: """
            An access lets a machine, such as the backend of your own portal, send REST requests to the daemon's \
            portal over HTTPS. The machine authenticates with an access token or with a client certificate.
            """,
        subcommands: [
            AccessCreate.self, AccessList.self, AccessShow.self, AccessRotate.self, AccessRevoke.self,
        ])
}

import ArgumentParser

struct InviteCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "invite", abstract: "Manage the links with which people at merchants sign in to the portal.",
        subcommands: [InviteCreate.self, InviteList.self, InviteRevoke.self])
}

import ArgumentParser

struct TokenCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Inspect, verify and decrypt payment tokens.",
        discussion: "FILE contains a whole payment token or its paymentData, as JSON of at most 1 MiB.",
        subcommands: [TokenInspect.self, TokenVerify.self, TokenDecrypt.self])
}

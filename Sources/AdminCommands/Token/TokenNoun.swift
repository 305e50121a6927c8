import ArgumentParser

struct TokenNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Payment tokens: what they hold, whether they are genuine.",
        discussion: "FILE holds a whole payment token or its paymentData, JSON of at most 1 MiB.",
        subcommands: [TokenInspect.self, TokenVerify.self, TokenDecrypt.self])
}

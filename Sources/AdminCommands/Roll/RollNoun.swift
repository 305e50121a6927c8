import ArgumentParser

struct RollNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "roll", abstract: "Replace a merchant's key pair without losing a payment.",
        discussion: """
            start makes a key pair and its CSR; after Apple signed it, 'certificate upload'; once it is activated at \
            Apple, its first proven token promotes it (or 'key promote' does); when nobody asks for the old key any \
            more, finish revokes it.
            """,
        subcommands: [RollStart.self, RollStatus.self, RollFinish.self, RollAbandon.self])
}

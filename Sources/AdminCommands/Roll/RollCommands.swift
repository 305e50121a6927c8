import ArgumentParser

struct RollCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "roll", abstract: "Replace a merchant's key pair without losing a payment.",
        discussion: """
            'roll start' generates a key pair and its CSR. After Apple has signed the CSR, upload the certificate and \
            activate it at Apple. The daemon promotes the new key (makes it current) when it first decrypts a token \
            with the new key; 'key promote' does this by hand. 'roll finish' revokes the old key, and generates the \
            key pair for the next roll. It succeeds only if no decryptor has used the old key for 7 days, and a token \
            was decrypted with the new key after its promotion.
            """,
        subcommands: [RollStart.self, RollStatus.self, RollFinish.self, RollAbandon.self])
}

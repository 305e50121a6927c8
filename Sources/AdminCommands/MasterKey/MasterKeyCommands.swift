import ArgumentParser

struct MasterKeyCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "master-key", abstract: "Rotate and identify the master key, which seals all private keys.",
        subcommands: [MasterKeyRotate.self, MasterKeyShowStatus.self, MasterKeyIdentify.self])
}

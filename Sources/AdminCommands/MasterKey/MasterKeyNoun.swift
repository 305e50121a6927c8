import ArgumentParser

struct MasterKeyNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "master-key", abstract: "Rotate and identify the master key, which seals all private keys.",
        subcommands: [MasterKeyRotate.self, MasterKeyShowStatus.self, MasterKeyIdentify.self])
}

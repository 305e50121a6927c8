import ArgumentParser

struct CertificateCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "Upload certificates that Apple issued.",
        subcommands: [CertificateUpload.self])
}

import ArgumentParser

struct CertificateNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "Upload certificates that Apple issued.",
        subcommands: [CertificateUpload.self])
}

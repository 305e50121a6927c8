import ArgumentParser

struct CertificateNoun: NounCommand {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "Certificates that Apple issued.",
        subcommands: [CertificateUpload.self])
}

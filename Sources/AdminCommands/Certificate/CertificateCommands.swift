import ArgumentParser

struct CertificateCommands: SubcommandGroup {
    static let configuration = CommandConfiguration(
        commandName: "certificate", abstract: "Upload and list certificates that Apple issued.",
        subcommands: [CertificateUpload.self, CertificateList.self, CertificateTimeline.self])
}

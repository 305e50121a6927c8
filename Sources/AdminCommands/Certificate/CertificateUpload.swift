import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct CertificateUpload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload", abstract: "Upload a certificate that Apple issued.",
        discussion: """
            The certificate is PEM or DER, at most 64 KiB; the daemon finds the key pair by the certificate's public \
            key. If a directory is given, the command uploads every file in the directory whose name ends in .cer, \
            .crt, .pem or .der. A certificate that the daemon already has is reported as unchanged.
            """,
        examples: [
            "certificate upload example.cer",
            "certificate upload certificates",
        ])

    @Argument(
        help: ArgumentHelp(
            "The certificate file, '-' for standard input, or a directory of certificates.", valueName: "file|directory"
        ), completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "Refuse a certificate of another merchant. Default: accept certificates of every merchant.", valueName: "id"
        ),
        completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        if Directory.exists(file) {
            let files = try CertificateFiles(in: file, merchant: merchant)
            let summary = try await global.withAdminClient(connections: bulk.concurrency) { admin in
                try await files.upload(admin, bulk, isQuiet: global.quiet)
            }
            return try summary.printAndThrowIfFailed(global.printer)
        }
        let bytes = try InputFile(file).read(sizeLimit: CertificateFiles.sizeLimit)
        try await global.withAdminClient { admin in
            let response = try await admin.uploadCertificate(bytes, of: merchant)
            try global.printer.show(response.json) { response.document.blocks }
            global.printer.warn(response.document.warnings ?? [])
        }
    }
}

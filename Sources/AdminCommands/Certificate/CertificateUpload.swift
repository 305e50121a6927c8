import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct CertificateUpload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload", abstract: "Upload a certificate that Apple issued.",
        discussion: """
            The certificate is PEM or DER, at most 64 KiB; its public key identifies the key pair. For a directory, every file \
            that ends in .cer, .crt, .pem or .der is uploaded, unless the daemon has already stored it.
            """)

    @Argument(
        help: ArgumentHelp(
            "The certificate file, '-' for standard input, or a directory of certificates.", valueName: "file|directory"
        ))
    var file: String

    @Option(
        help: ArgumentHelp("Refuse a certificate of another merchant.", valueName: "id"),
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        if Directory.exists(file) {
            let files = try CertificateFiles(in: file, merchant: merchant)
            let summary = try await global.withAdmin(connections: bulk.concurrency) { admin in
                try await files.upload(admin, bulk)
            }
            return try summary.printAndThrowIfFailed(global.printer)
        }
        let bytes = try InputFile(file).read()
        try await global.withAdmin { admin in
            let response = try await admin.uploadCertificate(bytes, of: merchant)
            try global.printer.show(response.json) { response.document.blocks }
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct CertificateUpload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload", abstract: "Store a signed certificate over its key pair.",
        discussion: """
            PEM or DER (.cer), up to 64 KiB. The key pair is found by the certificate's public key. Of a directory every \
            file that ends in .cer, .crt, .pem or .der is uploaded, unless the daemon has stored it already.
            """)

    @Argument(help: ArgumentHelp("The certificate, '-', or a directory of them.", valueName: "file|directory"))
    var file: String

    @Option(
        help: ArgumentHelp("Refuse it unless it is this merchant's.", valueName: "id"),
        transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier?

    @OptionGroup var bulk: BulkOptions
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        if Directory.isThere(file) {
            let files = try CertificateFiles(in: file, merchant: merchant)
            let summary = try await global.withAdmin(connections: bulk.concurrency) { admin in
                try await files.upload(admin, bulk)
            }
            return try summary.conclude(global.printer)
        }
        let bytes = try InputFile(file).read()
        try await global.withAdmin { admin in
            let answer = try await admin.uploadCertificate(bytes, of: merchant)
            try global.printer.show(answer.json) { answer.document.blocks }
        }
    }
}

import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct CertificateUpload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload", abstract: "Store a signed certificate over its key pair.",
        discussion: "PEM or DER (.cer), up to 1 MiB. The key pair is found by the certificate's public key.")

    @Argument(help: "The certificate, or '-'.")
    var file: String

    @Option(
        help: ArgumentHelp("Refuse it unless it is this merchant's.", valueName: "id"),
        transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let bytes = try InputFile(file).read()
        try await global.withAdmin { admin in
            let answer = try await admin.uploadCertificate(bytes, of: merchant)
            try global.printer.show(answer.json) { answer.document.blocks }
        }
    }
}

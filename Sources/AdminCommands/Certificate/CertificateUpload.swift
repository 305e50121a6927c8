import ArgumentParser
import MerchantKeyClient
import Vocabulary
import WireAPI

struct CertificateUpload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upload", abstract: "Store a signed certificate over its key pair.",
        discussion:
            "PEM or DER (.cer), up to 1 MiB. The key pair is found by the certificate's public key. Of a directory every .cer, .crt, .pem and .der."
    )

    @Argument(help: "The certificate, a directory of them, or '-'.")
    var file: String

    @Option(
        help: ArgumentHelp("Refuse it unless it is this merchant's.", valueName: "id"),
        transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier?

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        if let files = try CertificateDirectory.files(in: file) { return try await upload(files) }
        let bytes = try InputFile(file).read()
        try await global.withAdmin { admin in
            let answer = try await admin.uploadCertificate(bytes, of: merchant)
            try global.printer.show(answer.json) { answer.document.blocks }
        }
    }

    private func upload(_ files: [String]) async throws {
        let merchant = merchant
        try await global.withAdmin { admin in
            try await BulkRun(global: global).run(files, named: { $0 }) { file in
                let key = try await admin.uploadCertificate(try InputFile(file).read(), of: merchant).document
                return (.done, "\(key.publicKeyHash) of \(key.merchantIdentifier) is \(key.state)")
            }
        }
    }
}

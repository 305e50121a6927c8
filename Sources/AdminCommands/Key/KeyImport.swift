import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

struct KeyImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Import an existing private key with its certificate.",
        discussion: """
            The private key is PEM (PKCS#8, SEC 1 or PKCS#1, encrypted or not) or PKCS#12; the certificate is PEM or \
            DER. A PKCS#12 file contains its certificate, so it needs no --certificate; if it has several private keys, \
            use 'key import-all'. The private key's file has at most 64 KiB. The daemon stores the private key sealed \
            (encrypted); delete your file afterwards.
            """,
        examples: [
            "key import merchant.com.example --private-key key.p12 --passphrase-file passphrase.txt",
            "key import merchant.com.example --private-key key.pem --certificate example.cer",
        ])

    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier

    @Option(help: ArgumentHelp("Read the private key from this file.", valueName: "file"), completion: .file())
    var privateKey: String

    @Option(
        help: ArgumentHelp(
            "Read the certificate that Apple issued for the key from this file. Default: the file of the private key.",
            valueName: "file"), completion: .file())
    var certificate: String?

    @OptionGroup var options: KeyImportOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        let files = [privateKey, certificate, options.passphraseFile].compactMap { $0 }
        guard files.count(where: { InputFile($0).isStandardInput }) <= 1 else {
            throw ValidationError("'-' is given more than once; only one file can be read from standard input")
        }
    }

    func run() async throws {
        var fields = ImportKeyRequest(
            privateKey: try InputFile(privateKey).read().base64EncodedString())
        fields.certificate = try certificate.map { try InputFile($0).read().base64EncodedString() }
        fields.passphrase = try options.passphraseFile.map { try Passphrase.read(InputFile($0)) }
        fields.set(options.fields)
        let request = fields
        try await global.withAdminClient { admin in
            let response = try await admin.importKey(to: merchant, request)
            try global.printer.show(response.json) { response.document.blocks }
            global.printer.warn(response.document.warnings ?? [])
        }
    }
}

/// Reads a passphrase from a file.
package enum Passphrase {
    package static func read(_ file: InputFile) throws(CommandFailure) -> String {
        guard let text = String(validating: try file.read(), as: UTF8.self) else {
            throw CommandFailure(.failed, "the passphrase file is not UTF-8; save it as UTF-8")
        }
        // This also removes CR LF, because Swift counts them as one Character.
        return text.last?.isNewline == true ? String(text.dropLast()) : text
    }
}

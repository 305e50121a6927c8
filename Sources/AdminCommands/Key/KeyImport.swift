import ArgumentParser
import MerchantKeyClient
import FoundationEssentials
import Vocabulary
import WireAPI

struct KeyImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Bring an existing private key with its certificate under custody.",
        discussion: """
            The private key is PEM (PKCS#8, SEC1, PKCS#1, also protected by a passphrase) or PKCS#12, the certificate \
            PEM or DER. Files are read up to 1 MiB. The daemon keeps its own sealed copy; remove yours afterwards.
            """)

    @Argument(help: "Whose key pair it is.", transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier

    @Option(help: ArgumentHelp("The private key.", valueName: "file"))
    var privateKey: String

    @Option(help: ArgumentHelp("The certificate that Apple issued for it.", valueName: "file"))
    var certificate: String

    @Option(help: ArgumentHelp("Holds the passphrase; one line end after it is not part of it.", valueName: "file"))
    var passphraseFile: String?

    @Option(help: "standby, current or retiring. Default: standby.")
    var state: ImportStateArgument?

    @Flag(help: "Take a certificate that has ended: its tokens may still be there to decrypt.")
    var allowExpired = false

    @Option(help: "paymentProcessing or identity. Default: paymentProcessing.")
    var purpose: PurposeArgument?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        let files = [privateKey, certificate, passphraseFile].compactMap { $0 }
        guard files.count(where: { InputFile($0).isStandardInput }) <= 1 else {
            throw ValidationError("found '-' more than once, expected one file at most from standard input")
        }
    }

    func run() async throws {
        let request = ImportKeyRequest(
            privateKey: try InputFile(privateKey).read().base64EncodedString(),
            certificate: try InputFile(certificate).read().base64EncodedString(),
            passphrase: try passphraseFile.map { try Passphrase.read(InputFile($0)) },
            state: state?.rawValue, purpose: purpose?.rawValue, allowExpired: allowExpired ? true : nil)
        try await global.withAdmin { admin in
            let answer = try await admin.importKey(to: merchant, request)
            try global.printer.show(answer.json) { answer.document.blocks }
        }
    }
}

/// A passphrase from a file.
package enum Passphrase {
    package static func read(_ file: InputFile) throws(CommandFailure) -> String {
        guard let text = String(validating: try file.read(), as: UTF8.self) else {
            throw CommandFailure(.refused, "the passphrase's file is not UTF-8")
        }
        // A carriage return and a line feed are one Character.
        return text.last?.isNewline == true ? String(text.dropLast()) : text
    }
}

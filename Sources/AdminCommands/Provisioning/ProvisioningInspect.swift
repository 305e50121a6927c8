import ArgumentParser
import Crypto
import FoundationEssentials
import PassProvisioning
import StrictJSON

struct ProvisioningInspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Find the fault in an encrypted card that Apple refused.",
        discussion: """
            FILE has what the app sent, received or logged: a JSON object with encryptedPassData, ephemeralPublicKey \
            and activationData, or with certificates, nonce and nonceSignature; or the text of a device's log with the \
            request to '/broker/v4/devices/…/cards'. Finds Base64 that was encoded twice, wrong lengths, keys in a \
            wrong form, and line breaks that a log has added. With the private key of applepay-sandbox, also decrypts \
            the card and checks it. Prints no card data. Exit status 1 if a fault is found.
            """,
        examples: [
            "provisioning inspect device.log",
            "provisioning inspect answer.json --sandbox-key apple/provisioning-leaf.key.pem",
        ])

    @Argument(help: "The JSON or log file, or '-' for standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "Decrypt the card with this private key of applepay-sandbox, PEM. Default: the card is not decrypted.",
            valueName: "file"), completion: .file())
    var sandboxKey: String?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard file != "-" || sandboxKey != "-" else {
            throw ValidationError(
                "'-' is given for FILE and for --sandbox-key; only one can be read from standard input")
        }
    }

    func run() throws {
        let text = try InputFile(file).read()
        let inspection = PassInspection(text: Array(text), decryptionKey: try decryptionKey(), at: .now)
        switch global.output {
        case .json: global.printer.json(inspection.document)
        case .table: global.printer.show(inspection.blocks)
        }
        guard inspection.faults.isEmpty else {
            throw CommandFailure(.failed, "Apple can't accept the card; the faults are listed above")
        }
    }

    private func decryptionKey() throws(CommandFailure) -> P256.KeyAgreement.PrivateKey? {
        guard let sandboxKey else { return nil }
        let pem = String(decoding: try InputFile(sandboxKey).read(sizeLimit: 65_536), as: UTF8.self)
        do {
            return try P256.KeyAgreement.PrivateKey(pemRepresentation: pem)
        } catch {
            throw CommandFailure(
                .failed,
                "\(sandboxKey) is not a P-256 private key in PEM; name the provisioning-leaf.key.pem of applepay-sandbox"
            )
        }
    }
}

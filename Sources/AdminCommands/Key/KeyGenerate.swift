import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

struct KeyGenerate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Make a key pair and its CSR.",
        discussion: "With '--csr -' standard output holds the CSR alone.")

    @Argument(help: "Whose key pair it is to be.", transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier

    @Option(help: "EC_v1 (P-256) or RSA_v1 (RSA 2048, mainland China). Default: EC_v1; RSA_v1 for identity.")
    var algorithm: AlgorithmArgument?

    @Option(help: "paymentProcessing or identity. Default: paymentProcessing.")
    var purpose: PurposeArgument?

    @Option(help: ArgumentHelp("Write the CSR there, as PEM.", valueName: "file"))
    var csr: String?

    @Flag(help: "Overwrite the CSR's file.")
    var force = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let file = csr.map { OutputFile($0, overwrites: force) }
        // Before a key is made in vain.
        try file?.judge()
        try await global.withAdmin { admin in
            let answer = try await admin.generateKey(
                of: merchant, GenerateKeyRequest(algorithm: algorithm?.rawValue, purpose: purpose?.rawValue))
            let key = answer.document
            try await write(file, key, admin)
            guard file?.isStandardOutput != true else {
                return global.printer.remark("made key \(key.publicKeyHash) (\(key.algorithm), \(key.state))")
            }
            try global.printer.show(answer.json) {
                key.blocks + (file == nil ? key.csr.map { [.text($0.trimmingLineEnd)] } ?? [] : [])
            }
        }
    }

    private func write(_ file: OutputFile?, _ key: KeyDocument, _ admin: AdminClient) async throws {
        guard let file else { return }
        guard let pem = key.csr else { throw ClientError.protocolViolation("found a new key without its CSR") }
        do {
            try file.write(Data(pem.utf8))
        } catch {
            throw CommandFailure(
                .refused,
                "key \(key.publicKeyHash) was made, but \(error.message); get its CSR with: merchantkeyctl key csr \(key.publicKeyHash)"
            )
        }
        if !file.isStandardOutput { global.printer.remark("wrote \(file.path)") }
    }
}

extension String {
    fileprivate var trimmingLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}

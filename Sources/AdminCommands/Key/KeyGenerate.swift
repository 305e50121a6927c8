import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

struct KeyGenerate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Generate a key pair and its CSR.",
        discussion: """
            With '--csr -', standard output contains only the CSR.
            """,
        examples: ["key generate merchant.com.example --csr example.certSigningRequest"])

    @Argument(help: "The merchant's identifier.", completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier

    @Option(
        help: """
            Algorithm: EC_v1 (P-256) or RSA_v1 (RSA-2048, mainland China). Default: EC_v1, or RSA_v1 with --purpose identity.
            """)
    var algorithm: KeyAlgorithm?

    @Option(help: "Purpose: paymentProcessing or identity. Default: paymentProcessing.")
    var purpose: KeyPurpose?

    @Option(help: ArgumentHelp("Write the CSR to this file, as PEM.", valueName: "file"), completion: .file())
    var csr: String?

    @Flag(help: "Overwrite an existing CSR file.")
    var force = false

    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let file = csr.map { OutputFile($0, overwrites: force) }
        // Check this first, so that the key pair is not generated if its CSR cannot be written.
        try file?.checkWritable()
        try await global.withAdminClient { admin in
            var request = GenerateKeyRequest()
            request.algorithm = algorithm
            request.purpose = purpose
            let response = try await admin.generateKey(of: merchant, request)
            let key = response.document
            try writeCSR(of: key, to: file)
            guard file?.isStandardOutput != true else {
                return global.printer.note("generated key \(key.publicKeyHash) (\(key.algorithm), \(key.state))")
            }
            try global.printer.show(response.json) {
                key.blocks + (file == nil ? key.csr.map { [.text($0.trimmingLineEnd)] } ?? [] : [])
            }
        }
    }

    private func writeCSR(of key: KeyDocument, to file: OutputFile?) throws {
        guard let file else { return }
        guard let pem = key.csr else { throw ClientError.protocolViolation("the new key has no CSR") }
        do {
            try file.write(Data(pem.utf8))
        } catch {
            throw CommandFailure(
                .failed,
                "key \(key.publicKeyHash) was generated, but \(error.message); get its CSR with: merchantkeyctl key csr \(key.publicKeyHash)"
            )
        }
        if !file.isStandardOutput { global.printer.note("wrote \(file.path)") }
    }
}

extension String {
    fileprivate var trimmingLineEnd: String { hasSuffix("\n") ? String(dropLast()) : self }
}

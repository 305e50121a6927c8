import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

struct TokenDecrypt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Verify and decrypt a payment token.",
        discussion: """
            The table masks account number, cryptograms and whatever this program does not know. '--raw' and \
            '--output json' mask nothing.
            """)

    @Argument(help: "The token, or '-'.")
    var file: String

    @Option(
        help: ArgumentHelp("Refuse it unless it is this merchant's. Default: any merchant's.", valueName: "id"),
        transform: MerchantArgument.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp("The time of receipt to judge by, RFC 3339. Default: now.", valueName: "time"),
        transform: TimeArgument.parse)
    var at: Timestamp?

    @Flag(help: "Decrypt without verifying.")
    var unverified = false

    @Flag(help: "Print the plaintext byte for byte, and nothing else.")
    var raw = false

    @Flag(help: "Take the payment: no other call decrypts this token again.")
    var claim = false

    @OptionGroup var decryptor: DecryptorOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard !claim || (!unverified && at == nil) else {
            throw ValidationError(
                "found --claim with --unverified or --at, expected it alone: only a token verified now can be claimed")
        }
    }

    func run() async throws {
        let token = try TokenFile.read(file)
        let terms = DecryptTerms(
            expected: PaymentExpectation(merchant: merchant.map { .named($0.rawValue) } ?? .any),
            verify: unverified ? false : nil, receivedAt: at?.rfc3339, claim: claim ? true : nil)
        try await decryptor.withDecryptor(global) { client in
            let answer = try await client.decrypt(token.json, terms)
            let plaintext = try answer.document.plaintextBytes()
            if raw { return global.printer.raw(Data(plaintext)) }
            let fields = try MaskedFields(plaintext: plaintext)
            try global.printer.show(answer.json) { Self.blocks(answer.document, fields) }
        }
    }

    private static func blocks(_ document: DecryptedTokenDocument, _ fields: MaskedFields) -> [Block] {
        let token: [(name: String, value: Cell?)] = [
            ("publicKeyHash", Cell(document.publicKeyHash)),
            ("merchant", Cell(document.merchantIdentifier)),
            ("verified", document.verification?.verified == true ? Cell("yes", .good) : Cell("no", .warning)),
        ]
        let record = Block.record(token + fields.rows.map { ($0.name, Cell($0.value)) })
        guard let verification = document.verification, !verification.checks.isEmpty else { return [record] }
        return [record, verification.block]
    }
}

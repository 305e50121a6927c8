import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// How the payment data is shown, if not as Apple names it.
enum TokenView: String, CaseIterable, ExpressibleByArgument {
    case authorization
}

struct TokenDecrypt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Verify and decrypt a payment token.",
        discussion: """
            The table masks account number, cryptograms and whatever this program does not know. '--raw' and \
            '--output json' mask nothing.
            """)

    /// In bytes: with the token it must fit into a request.
    private static let largestApplicationData = 32_768

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

    @Option(
        help: ArgumentHelp(
            "Refuse the token unless it is for these bytes, the applicationData of the payment request.",
            discussion: "Default: any applicationData; the check is reported as notChecked.", valueName: "file"))
    var applicationData: String?

    @Flag(help: "Decrypt without verifying.")
    var unverified = false

    @Option(help: "Show the payment data under the names of an authorization message: authorization.")
    var view: TokenView?

    @Flag(help: "Print the plaintext byte for byte, or the whole view as JSON, and nothing else.")
    var raw = false

    @Flag(help: "Take the payment: no other call decrypts this token again.")
    var claim = false

    @Option(
        help: ArgumentHelp(
            "Name the attempt to take the payment: repeated with it, a lost response is given again, for an hour.",
            discussion: "Default: a random one. Never derive it from the token.", valueName: "key"))
    var idempotencyKey: String?

    @OptionGroup var decryptor: DecryptorOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard file != "-" || applicationData != "-" else {
            throw ValidationError("found '-' for the token and for --application-data, expected it once")
        }
        guard claim || idempotencyKey == nil else {
            throw ValidationError("found --idempotency-key without --claim, expected both")
        }
        guard !claim || (!unverified && at == nil) else {
            throw ValidationError(
                "found --claim with --unverified or --at, expected it alone: only a token verified now can be claimed")
        }
    }

    func run() async throws {
        let token = try TokenFile.read(file)
        let terms = DecryptTerms(
            expected: PaymentExpectation(
                merchant: merchant.map { .named($0.rawValue) } ?? .any,
                applicationData: try applicationData.map { path throws(CommandFailure) in
                    Array(try InputFile(path).read(largest: Self.largestApplicationData))
                }),
            verify: unverified ? false : nil, receivedAt: at?.rfc3339, claim: claim, view: view?.rawValue)
        try await decryptor.withDecryptor(global) { client in
            let answer = try await decrypt(token.json, terms, client)
            let shown = try shownBytes(answer.document)
            if raw { return global.printer.raw(Data(shown)) }
            let fields = try MaskedFields(plaintext: shown)
            try global.printer.show(answer.json) { Self.blocks(answer.document, fields) }
        }
    }

    /// A claim whose answer got lost is asked for again: the payment may be taken, and nobody else can take it then.
    private func decrypt(
        _ token: [UInt8], _ terms: DecryptTerms, _ client: DecryptorClient
    ) async throws -> Answer<DecryptedTokenDocument> {
        guard claim else { return try await client.decrypt(token, terms) }
        let key = idempotencyKey ?? UUID().uuidString
        for isLast in [false, true] {
            do throws(ClientError) {
                return try await client.decrypt(token, terms, idempotencyKey: key)
            } catch {
                guard case .unreachable = error else { throw error }
                if isLast {
                    throw CommandFailure(
                        .unreachable,
                        "merchantkeyctl: \(error)\nrepeat it with --idempotency-key \(key): the payment may be taken")
                }
            }
        }
        preconditionFailure("the last round returns or throws")
    }

    /// The plaintext, or the view that was asked for.
    private func shownBytes(_ document: DecryptedTokenDocument) throws -> [UInt8] {
        guard view != nil else { return try document.plaintextBytes() }
        guard let authorization = document.authorization else {
            throw CommandFailure(
                .refused, "the payment has no fields for an authorization message: it is not of type 3DSecure")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(authorization))
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

import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// A form of the payment data with other field names.
enum TokenView: String, CaseIterable, ExpressibleByArgument {
    case authorization
}

struct TokenDecrypt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Verify and decrypt a payment token.",
        discussion: """
            The table masks the account number, cryptograms and unknown fields. '--raw' and '--output json' mask nothing. \
            Example: merchantkeyctl token decrypt token.json --merchant merchant.com.example
            """)

    /// The largest file with application data, in bytes. The token must fit into the same request.
    private static let largestApplicationData = 32_768

    @Argument(help: "The token file, or '-' for standard input.")
    var file: String

    @Option(
        help: ArgumentHelp("Refuse a token of another merchant. Default: accept every merchant's.", valueName: "id"),
        transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp("Check the token as of this time of receipt, RFC 3339. Default: now.", valueName: "time"),
        transform: Timestamp.parse)
    var at: Timestamp?

    @Option(
        help: ArgumentHelp(
            "Refuse the token unless its applicationData hash is that of this file.",
            discussion: "Default: the hash is not compared, and reported as notChecked.", valueName: "file"))
    var applicationData: String?

    @Flag(help: "Decrypt without verifying.")
    var unverified = false

    @Option(help: "Show the payment data with other field names: authorization, for an authorization message.")
    var view: TokenView?

    @Flag(help: "Print only the unchanged plaintext, or with --view the view as JSON.")
    var raw = false

    @Flag(help: "Claim the payment, so that no other call decrypts this token again.")
    var claim = false

    @Option(
        help: ArgumentHelp(
            "Identify the claim: for an hour, a repeat with the same key returns the same response.",
            discussion: "Default: a random key. Never derive it from the token.", valueName: "key"))
    var idempotencyKey: String?

    @OptionGroup var decryptor: DecryptorOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard file != "-" || applicationData != "-" else {
            throw ValidationError(
                "'-' is given for the token and for --application-data; only one can be read from standard input")
        }
        guard claim || idempotencyKey == nil else {
            throw ValidationError("--idempotency-key needs --claim")
        }
        guard !claim || (!unverified && at == nil) else {
            throw ValidationError(
                "--claim excludes --unverified and --at, because only a token that is verified now can be claimed")
        }
    }

    func run() async throws {
        let token = try TokenFile.read(file)
        let terms = try terms()
        try await decryptor.withDecryptor(global) { client in
            let response = try await decrypt(token.json, terms, client)
            let shown = try shownBytes(response.document)
            if raw { return global.printer.raw(Data(shown)) }
            let fields = try MaskedFields(plaintext: shown)
            try global.printer.show(response.json) { Self.blocks(response.document, fields) }
        }
    }

    private func terms() throws(CommandFailure) -> DecryptTerms {
        var expectation = PaymentExpectation(merchant: merchant.map { .named($0.rawValue) } ?? .any)
        if let applicationData {
            expectation.applicationData = Array(
                try InputFile(applicationData).read(largest: Self.largestApplicationData))
        }
        var terms = DecryptTerms(expected: expectation, claim: claim)
        terms.verify = unverified ? false : nil
        terms.receivedAt = at
        terms.view = view?.rawValue
        return terms
    }

    /// Repeats a claim whose response was not received, because the payment may already be claimed.
    private func decrypt(
        _ token: [UInt8], _ terms: DecryptTerms, _ client: DecryptorClient
    ) async throws -> Response<DecryptedTokenDocument> {
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
                        "merchantkeyctl: \(error)\nrepeat it with --idempotency-key \(key): the payment may already be claimed"
                    )
                }
            }
        }
        preconditionFailure("the last round returns or throws")
    }

    /// The JSON text to print: the plaintext, or the view if `--view` requests one.
    private func shownBytes(_ document: DecryptedTokenDocument) throws -> [UInt8] {
        guard view != nil else { return try document.plaintextBytes() }
        guard let authorization = document.authorization else {
            throw CommandFailure(
                .refused, "the payment has no fields for an authorization message, because its type is not 3DSecure")
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
        return [record, verification.table]
    }
}

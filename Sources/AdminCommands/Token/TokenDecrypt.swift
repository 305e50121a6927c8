import ArgumentParser
import FoundationEssentials
import MerchantKeyClient
import Vocabulary
import WireAPI

/// The values of `--view`. `authorization` shows the payment data with the field names of an authorization message.
enum TokenView: String, CaseIterable, ExpressibleByArgument {
    case authorization
}

struct TokenDecrypt: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decrypt", abstract: "Verify and decrypt a payment token.",
        discussion: """
            Prints a table in which the account number, cryptograms and unknown fields are masked. '--raw' and \
            '--output json' mask nothing.
            """,
        examples: [
            "token decrypt token.json --merchant merchant.com.example",
            "token decrypt token.json --merchant merchant.com.example --amount 12.34 --currency EUR",
            "token decrypt token.json --merchant merchant.com.example --claim",
        ])

    /// The largest file with application data, in bytes. The request must have space for the token, too.
    private static let largestApplicationData = 32_768

    @Argument(help: "The token file, or '-' for standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "Refuse a token of another merchant. Default: accept tokens of every merchant.", valueName: "id"),
        completion: .merchant, transform: MerchantIdentifier.parse)
    var merchant: MerchantIdentifier?

    @Option(
        help: ArgumentHelp(
            "Verify the token as if it had been received at this time: \(PastTime.forms). Default: now.",
            valueName: "time"),
        transform: PastTime.parse)
    var at: Timestamp?

    @Option(
        help: ArgumentHelp(
            "Refuse the token unless its applicationData is the SHA-256 of this file.",
            discussion: "Default: the applicationData is not checked, and is reported as notChecked.", valueName: "file"
        ), completion: .file())
    var applicationData: String?

    @Option(
        help: ArgumentHelp(
            "Refuse the token unless it is for this amount, such as 12.34; needs --currency.",
            discussion: "Default: the amount is not checked, and is reported as notChecked.", valueName: "amount"),
        transform: AmountArgument.parse)
    var amount: AmountArgument?

    @Option(
        help: ArgumentHelp(
            "Refuse the token unless it is in this currency: the code of ISO 4217, such as EUR or 978.",
            discussion: "Default: the currency is not checked, and is reported as notChecked.", valueName: "currency"),
        transform: Currency.parse)
    var currency: Currency?

    @Flag(help: "Decrypt without verifying.")
    var unverified = false

    @Option(help: "Show another form of the payment data. authorization: the field names of an authorization message.")
    var view: TokenView?

    @Flag(help: "Print only the decrypted JSON, unchanged and unmasked; with --view, the view as JSON.")
    var raw = false

    @Flag(help: "Claim the token: record its use, and refuse the token if another call has claimed it.")
    var claim = false

    @Option(
        help: ArgumentHelp(
            "Identify the claim: for one hour, a repeat with the same idempotency key returns the same response.",
            discussion: "Default: a random key. Never derive the key from the token.", valueName: "key"))
    var idempotencyKey: String?

    @OptionGroup var decryptor: DecryptorOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        guard file != "-" || applicationData != "-" else {
            throw ValidationError(
                "'-' is given for the token and for --application-data; only one can be read from standard input")
        }
        guard amount == nil || currency != nil else {
            throw ValidationError(
                "--amount needs --currency, which determines how many digits follow the decimal point")
        }
        _ = try minorUnits()
        guard claim || idempotencyKey == nil else {
            throw ValidationError("--idempotency-key needs --claim")
        }
        guard !claim || (!unverified && at == nil) else {
            throw ValidationError(
                "--claim can't be combined with --unverified or --at, because a claim needs a token that is verified for the current time"
            )
        }
    }

    func run() async throws {
        let token = try TokenFile.read(file)
        let parameters = try parameters(amount: try minorUnits())
        try await decryptor.withDecryptorClient(global) { client in
            let response = try await decrypt(token.json, parameters, client)
            let json = try jsonToPrint(response.document)
            if raw { return global.printer.raw(Data(json)) }
            let fields = try MaskedFields(plaintext: json)
            try global.printer.show(response.json) { Self.blocks(response.document, fields) }
        }
    }

    /// The value of `--amount` in the currency's minor unit; nil if the option is not given.
    private func minorUnits() throws -> Int? {
        guard let amount, let currency else { return nil }
        return try amount.minorUnits(of: currency)
    }

    /// - Parameter amount: the expected amount in the currency's minor unit; nil for any amount.
    private func parameters(amount: Int?) throws(CommandFailure) -> DecryptParameters {
        var expectation = PaymentExpectation(
            merchant: merchant.map { .named($0.rawValue) } ?? .any, currencyCode: currency?.numericCode,
            transactionAmount: amount)
        if let applicationData {
            expectation.applicationData = Array(
                try InputFile(applicationData).read(sizeLimit: Self.largestApplicationData))
        }
        var parameters = DecryptParameters(expected: expectation, claim: claim)
        parameters.verify = unverified ? false : nil
        parameters.receivedAt = at
        parameters.view = view?.rawValue
        return parameters
    }

    /// Sends the request. If no response to a claim arrives, sends the same claim once more with the same idempotency
    /// key: the daemon may have recorded the claim, and then returns the response to the first request.
    private func decrypt(
        _ token: [UInt8], _ parameters: DecryptParameters, _ client: DecryptorClient
    ) async throws -> Response<DecryptedTokenDocument> {
        guard claim else { return try await client.decrypt(token, parameters) }
        let key = idempotencyKey ?? UUID().uuidString
        for isLast in [false, true] {
            do throws(ClientError) {
                return try await client.decrypt(token, parameters, idempotencyKey: key)
            } catch {
                guard case .unreachable = error else { throw error }
                if isLast {
                    throw CommandFailure(
                        .unreachable,
                        "merchantkeyctl: \(error)\nif the daemon received the request, the token is claimed now; to repeat the command, add --idempotency-key \(key)"
                    )
                }
            }
        }
        preconditionFailure("the last round returns or throws")
    }

    /// The JSON text to print: the decrypted payment data, or the form of it that `--view` requests.
    private func jsonToPrint(_ document: DecryptedTokenDocument) throws -> [UInt8] {
        guard view != nil else { return try document.plaintextBytes() }
        guard let authorization = document.authorization else {
            throw CommandFailure(
                .failed,
                "--view authorization can't show this payment, because its paymentDataType is not 3DSecure; omit --view"
            )
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

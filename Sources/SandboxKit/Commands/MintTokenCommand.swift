import ArgumentParser
import Vocabulary

/// `applepay-sandbox mint-token`
struct MintTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mint-token",
        abstract: "Mint payment tokens, encrypted to a payment processing certificate and signed by the sandbox.",
        discussion: """
            The tokens have version EC_v1 if the certificate is for an EC(P-256) key, and RSA_v1 if it is for an \
            RSA(2048) key. The issuer and the validity period of the certificate are not checked.
            """)

    @OptionGroup var hierarchy: HierarchyOptions

    @Option(
        help: ArgumentHelp("The certificate, PEM or DER; - for the standard input.", valueName: "file"),
        completion: .file())
    var certificate: String

    @Option(help: ArgumentHelp("The amount in the currency's minor unit.", valueName: "minor-units"))
    var amount: UInt64 = 1000

    @Option(help: ArgumentHelp("The numeric ISO 4217 code of the currency, three digits.", valueName: "numeric"))
    var currency = "840"

    @Option(
        help: ArgumentHelp(
            "The applicationData of the payment request; the token contains its hash.", valueName: "text"))
    var applicationData: String?

    @Option(
        help: ArgumentHelp("The file for the tokens; - for the standard output.", valueName: "file"),
        completion: .file())
    var out = "-"

    @Option(
        help: ArgumentHelp("The signing time, RFC 3339 (default: now).", valueName: "time"),
        transform: Timestamp.argument)
    var signingTime: Timestamp?

    @Option(help: "The type of the payment data: 3DSecure or EMV.")
    var dataType = TokenParameters.DataType.threeDSecure

    @Flag(help: "Mint tokens whose shared secret begins with a zero byte, which decryptors must keep. EC_v1 only.")
    var leadingZeroSecret = false

    @Option(help: ArgumentHelp("The number of tokens, one on each line, at most 100,000.", valueName: "n"))
    var count = 1

    @Option(help: ArgumentHelp("The merchantTokenIdentifier of a merchant token.", valueName: "text"))
    var merchantTokenIdentifier: String?

    @Flag(help: "Add merchantTokenMetadata with a fictitious card.")
    var merchantTokenMetadata = false

    @Option(
        help: ArgumentHelp(
            "Mint the payment token of a merchant token, as Apple sends it: the same as --merchant-token-identifier "
                + "with --merchant-token-metadata.", valueName: "text"))
    var merchantToken: String?

    @Option(
        help: ArgumentHelp(
            "Add a merchant and an amount to authenticationResponses, as in multi-merchant payments; may be repeated.",
            valueName: "id=minor-units"),
        transform: Self.response)
    var authenticationResponse: [TokenParameters.AuthenticationResponse] = []

    /// The limit for `--count`. All tokens are kept in memory until the last one is minted.
    private static let maximumCount = 100_000

    func validate() throws {
        guard (1...Self.maximumCount).contains(count) else {
            throw ValidationError("--count is \(count), expected 1 to \(Self.maximumCount)")
        }
        guard merchantToken == nil || merchantTokenIdentifier == nil else {
            throw ValidationError(
                "--merchant-token can't be combined with --merchant-token-identifier; omit one of the two")
        }
        do {
            try parameters.validate()
        } catch { throw ValidationError(error.description) }
    }

    func run() throws {
        let authority = try hierarchy.authorityDirectory.load()
        let lines = try authority.mintTokens(count, parameters, certificate: Files.read(certificate))
        try Files.write(lines, to: out)
    }

    private var parameters: TokenParameters {
        var parameters = TokenParameters(signingTime: signingTime ?? .now)
        parameters.amount = amount
        parameters.currency = currency
        parameters.applicationData = applicationData.map { Array($0.utf8) }
        parameters.dataType = dataType
        parameters.secretBeginsWithZero = leadingZeroSecret
        parameters.merchantTokenIdentifier = merchantToken ?? merchantTokenIdentifier
        parameters.hasMerchantTokenMetadata = merchantTokenMetadata || merchantToken != nil
        parameters.authenticationResponses = authenticationResponse
        return parameters
    }

    /// Parses `MERCHANT=AMOUNT`. A merchant identifier contains no `=`.
    private static func response(_ text: String) throws -> TokenParameters.AuthenticationResponse {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let merchant = MerchantIdentifier(parts[0]), let amount = UInt64(parts[1]) else {
            throw ValidationError("--authentication-response is '\(text)', expected merchant.…=MINOR-UNITS")
        }
        return TokenParameters.AuthenticationResponse(merchant: merchant, amount: amount)
    }
}

extension TokenParameters.DataType: ExpressibleByArgument {}

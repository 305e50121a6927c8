import ArgumentParser
import Vocabulary

/// `applepay-sandbox mint-token`
struct MintTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mint-token",
        abstract: "Makes payment tokens encrypted to a payment processing certificate and signed by the sandbox.",
        discussion:
            "EC_v1 for a key of EC(P-256), RSA_v1 for RSA(2048). The certificate's issuer and dates are not judged.")

    @OptionGroup var hierarchy: HierarchyOptions

    @Option(help: ArgumentHelp("The certificate, PEM or DER; - is standard input.", valueName: "file"))
    var certificate: String

    @Option(help: ArgumentHelp("The amount, in the currency's minor units.", valueName: "minor-units"))
    var amount: UInt64 = 1000

    @Option(help: ArgumentHelp("The currency, ISO 4217, three digits.", valueName: "numeric"))
    var currency = "840"

    @Option(
        help: ArgumentHelp("What the merchant set as applicationData; the token carries its hash.", valueName: "text"))
    var applicationData: String?

    @Option(help: ArgumentHelp("Where the token goes; - is standard output.", valueName: "file"))
    var out = "-"

    @Option(
        help: ArgumentHelp("What the signature says about its time, RFC 3339 (default: now).", valueName: "time"),
        transform: Timestamp.argument)
    var signingTime: Timestamp?

    @Option(help: "The kind of payment data: 3DSecure or EMV.")
    var dataType = TokenOrder.DataType.threeDSecure

    @Flag(help: "EC_v1 only: tokens whose shared secret begins with a zero byte.")
    var leadingZeroSecret = false

    @Option(help: ArgumentHelp("How many tokens, one a line.", valueName: "n"))
    var count = 1

    @Option(help: ArgumentHelp("Makes it a merchant token's: its merchantTokenIdentifier.", valueName: "text"))
    var merchantTokenIdentifier: String?

    @Flag(help: "Adds merchantTokenMetadata: card art and the card in words, made up.")
    var merchantTokenMetadata = false

    @Option(
        help: ArgumentHelp(
            "Adds another merchant's authentication response; may be repeated.", valueName: "id=minor-units"),
        transform: Self.response)
    var authenticationResponse: [TokenOrder.AuthenticationResponse] = []

    /// What one call makes is held in memory.
    private static let largestCount = 100_000

    func validate() throws {
        guard (1...Self.largestCount).contains(count) else {
            throw ValidationError("found the count \(count), expected 1 to \(Self.largestCount)")
        }
        do {
            try order.validate()
        } catch { throw ValidationError(error.description) }
    }

    func run() throws {
        let authority = try hierarchy.authorityDirectory.load()
        let lines = try authority.mintTokens(count, order, certificate: Files.read(certificate))
        try Files.write(lines, to: out)
    }

    private var order: TokenOrder {
        var order = TokenOrder(signingTime: signingTime ?? .now)
        order.amount = amount
        order.currency = currency
        order.applicationData = applicationData.map { Array($0.utf8) }
        order.dataType = dataType
        order.leadingZeroSecret = leadingZeroSecret
        order.merchantTokenIdentifier = merchantTokenIdentifier
        order.hasMerchantTokenMetadata = merchantTokenMetadata
        order.authenticationResponses = authenticationResponse
        return order
    }

    /// The amount follows the last `=`, which no merchant identifier holds.
    private static func response(_ text: String) throws -> TokenOrder.AuthenticationResponse {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        guard parts.count == 2, let merchant = MerchantIdentifier(parts[0]), let amount = UInt64(parts[1]) else {
            throw ValidationError("found the authentication response '\(text)', expected merchant.…=MINOR-UNITS")
        }
        return TokenOrder.AuthenticationResponse(merchant: merchant, amount: amount)
    }
}

extension TokenOrder.DataType: ExpressibleByArgument {}

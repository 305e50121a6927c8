import FoundationEssentials
import Vocabulary

/// The decrypted content of a payment token, in the order of Apple's own.
///
/// Source: Apple, "Payment token format reference", "Payment data keys"; order and types from real tokens.
struct TokenPlaintext {
    /// A number that card networks keep for tests.
    private static let accountNumber = "4111111111111111"

    let json: String

    init(_ order: TokenOrder, algorithm: KeyAlgorithm) {
        var object = JSONObjectText()
        object.string("applicationPrimaryAccountNumber", Self.accountNumber)
        object.string("applicationExpirationDate", Self.expiration(after: order.signingTime))
        object.string("currencyCode", order.currency)
        object.literal("transactionAmount", String(order.amount))
        object.string("deviceManufacturerIdentifier", "040010030273")
        object.string("paymentDataType", order.dataType.rawValue)
        object.literal("paymentData", Self.paymentData(order.dataType, algorithm: algorithm))
        if !order.authenticationResponses.isEmpty {
            let responses = order.authenticationResponses.map(Self.response).joined(separator: ",")
            object.literal("authenticationResponses", "[\(responses)]")
        }
        if let identifier = order.merchantTokenIdentifier { object.string("merchantTokenIdentifier", identifier) }
        if order.hasMerchantTokenMetadata { object.literal("merchantTokenMetadata", Self.merchantTokenMetadata) }
        json = object.text
    }

    private static func paymentData(_ type: TokenOrder.DataType, algorithm: KeyAlgorithm) -> String {
        var object = JSONObjectText()
        switch type {
        case .threeDSecure:
            object.string("onlinePaymentCryptogram", cryptogram())
            object.string("eciIndicator", "7")
        case .emv:
            // Tag 9F26, application cryptogram, eight bytes.
            object.string("emvData", Data([0x9F, 0x26, 0x08] + randomBytes(8)).base64EncodedString())
            // PINs are for China UnionPay, where tokens are RSA_v1.
            if algorithm == .rsaV1 { object.string("encryptedPINData", Hex.encode(randomBytes(8)).uppercased()) }
        }
        return object.text
    }

    /// The amount is a string here, unlike `transactionAmount` outside.
    private static func response(_ response: TokenOrder.AuthenticationResponse) -> String {
        var object = JSONObjectText()
        object.string("merchantIdentifier", response.merchant.rawValue)
        object.string("authenticationData", cryptogram())
        object.string("transactionAmount", String(response.amount))
        return object.text
    }

    /// Fields of Apple's "MerchantTokenMetadata"; the suffix is that of the account number.
    private static let merchantTokenMetadata = {
        var art = JSONObjectText()
        art.string("name", "cardBackground.png")
        art.string("type", "image/png")
        art.string("url", "https://card-art.example/cardBackground.png")
        var card = JSONObjectText()
        card.string("cardCountry", "US")
        card.string("expirationDate", "2029-12")
        card.string("fpanSuffix", "1111")
        card.string("longDescription", "Sandbox Bank Visa Debit")
        card.string("shortDescription", "Visa Debit")
        var object = JSONObjectText()
        object.literal("cardArt", "[\(art.text)]")
        object.literal("cardMetadata", card.text)
        return object.text
    }()

    private static func cryptogram() -> String { Data(randomBytes(20)).base64EncodedString() }

    /// YYMMDD: the last day of the third year after.
    private static func expiration(after time: Timestamp) -> String {
        let year = Int(time.rfc3339.prefix(4)) ?? 2030
        return "\(String(100 + (year + 3) % 100).dropFirst())1231"
    }
}

func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}

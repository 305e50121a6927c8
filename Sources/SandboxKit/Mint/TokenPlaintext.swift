import FoundationEssentials
import Vocabulary

/// The plaintext of a payment token: a JSON object whose members have the order and types of real tokens.
///
/// Source: Apple, "Payment token format reference", "Payment data keys".
struct TokenPlaintext {
    /// A Visa card number that is reserved for tests.
    private static let accountNumber = "4111111111111111"

    let json: String

    init(_ parameters: TokenParameters, algorithm: KeyAlgorithm) {
        var object = JSONObjectWriter()
        object.string("applicationPrimaryAccountNumber", Self.accountNumber)
        object.string("applicationExpirationDate", Self.expiration(after: parameters.signingTime))
        object.string("currencyCode", parameters.currency)
        object.literal("transactionAmount", String(parameters.amount))
        object.string("deviceManufacturerIdentifier", "040010030273")
        object.string("paymentDataType", parameters.dataType.rawValue)
        object.literal("paymentData", Self.paymentData(parameters.dataType, algorithm: algorithm))
        if !parameters.authenticationResponses.isEmpty {
            let responses = parameters.authenticationResponses.map(Self.response).joined(separator: ",")
            object.literal("authenticationResponses", "[\(responses)]")
        }
        if let identifier = parameters.merchantTokenIdentifier { object.string("merchantTokenIdentifier", identifier) }
        if parameters.hasMerchantTokenMetadata { object.literal("merchantTokenMetadata", Self.merchantTokenMetadata) }
        json = object.text
    }

    private static func paymentData(_ type: TokenParameters.DataType, algorithm: KeyAlgorithm) -> String {
        var object = JSONObjectWriter()
        switch type {
        case .threeDSecure:
            object.string("onlinePaymentCryptogram", cryptogram())
            object.string("eciIndicator", "7")
        case .emv:
            // Tag 9F26, the application cryptogram: eight bytes.
            object.string("emvData", Data([0x9F, 0x26, 0x08] + randomBytes(8)).base64EncodedString())
            // Only China UnionPay uses PINs, and its tokens are RSA_v1.
            if algorithm == .rsaV1 { object.string("encryptedPINData", Hex.encode(randomBytes(8)).uppercased()) }
        }
        return object.text
    }

    /// Returns an authentication response. Its `transactionAmount` is a JSON string, although the `transactionAmount`
    /// of the payment data is a JSON number.
    private static func response(_ response: TokenParameters.AuthenticationResponse) -> String {
        var object = JSONObjectWriter()
        object.string("merchantIdentifier", response.merchant.rawValue)
        object.string("authenticationData", cryptogram())
        object.string("transactionAmount", String(response.amount))
        return object.text
    }

    /// The fields of Apple's MerchantTokenMetadata. `fpanSuffix` is the last four digits of ``accountNumber``.
    private static let merchantTokenMetadata = {
        var art = JSONObjectWriter()
        art.string("name", "cardBackground.png")
        art.string("type", "image/png")
        art.string("url", "https://card-art.example/cardBackground.png")
        var card = JSONObjectWriter()
        card.string("cardCountry", "US")
        card.string("expirationDate", "2029-12")
        card.string("fpanSuffix", "1111")
        card.string("longDescription", "Sandbox Bank Visa Debit")
        card.string("shortDescription", "Visa Debit")
        var object = JSONObjectWriter()
        object.literal("cardArt", "[\(art.text)]")
        object.literal("cardMetadata", card.text)
        return object.text
    }()

    private static func cryptogram() -> String { Data(randomBytes(20)).base64EncodedString() }

    /// Returns 31 December of the third year after `time`, as YYMMDD.
    private static func expiration(after time: Timestamp) -> String {
        // The fallback is never used, because RFC 3339 begins with four digits.
        let year = Int(time.rfc3339.prefix(4)) ?? 2030
        // Adding 100 keeps a leading zero, and dropFirst removes the 1.
        let twoDigits = String(100 + (year + 3) % 100).dropFirst()
        return "\(twoDigits)1231"
    }
}

func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}

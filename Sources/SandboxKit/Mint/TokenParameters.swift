package import Vocabulary

/// The parameters of a payment token to mint. The default values give the token of an ordinary card payment.
package struct TokenParameters: Sendable {
    /// A member of `authenticationResponses`: the part of a multi-merchant payment that belongs to another merchant.
    package struct AuthenticationResponse: Hashable, Sendable {
        package let merchant: MerchantIdentifier
        package let amount: UInt64

        package init(merchant: MerchantIdentifier, amount: UInt64) {
            self.merchant = merchant
            self.amount = amount
        }
    }

    /// The value of `paymentDataType`, which determines the content of `paymentData`.
    package enum DataType: String, CaseIterable, Sendable {
        case threeDSecure = "3DSecure"
        case emv = "EMV"
    }

    /// The amount in the currency's minor unit.
    package var amount: UInt64 = 1000
    /// The numeric ISO 4217 code of the currency: three digits.
    package var currency = "840"
    /// The `applicationData` of the payment request. The token contains its SHA-256 hash only.
    package var applicationData: [UInt8]?
    package var signingTime: Timestamp
    package var dataType = DataType.threeDSecure
    /// Whether the shared secret of the key agreement begins with a zero byte. EC_v1 only. With such a token, a test
    /// can detect a decryptor that drops leading zero bytes of the secret and so derives a wrong key.
    package var secretBeginsWithZero = false
    /// The identifier of a merchant token; nil if the token is not a merchant token.
    package var merchantTokenIdentifier: String?
    /// Whether the token contains `merchantTokenMetadata`, with a fictitious card.
    package var hasMerchantTokenMetadata = false
    /// Empty for a payment to one merchant.
    package var authenticationResponses: [AuthenticationResponse] = []

    package init(signingTime: Timestamp) { self.signingTime = signingTime }

    /// The largest amount that fits into the twelve digits of an ISO 8583 message.
    package static let maximumAmount: UInt64 = 999_999_999_999

    /// - Throws: ``SandboxError`` if an amount is too large or the currency is not three digits.
    func validate() throws(SandboxError) {
        for amount in [amount] + authenticationResponses.map(\.amount) where amount > Self.maximumAmount {
            throw SandboxError("the amount is \(amount), expected at most \(Self.maximumAmount)")
        }
        guard currency.utf8.count == 3, currency.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw SandboxError("the currency is '\(currency)', expected a numeric ISO 4217 code of three digits")
        }
    }
}

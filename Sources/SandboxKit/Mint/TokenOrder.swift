package import Vocabulary

/// What a payment token is to say. Every field has a value that makes an ordinary token.
package struct TokenOrder: Sendable {
    /// One member of `authenticationResponses`: another merchant's share of a multi-merchant payment.
    package struct AuthenticationResponse: Hashable, Sendable {
        package let merchant: MerchantIdentifier
        package let amount: UInt64

        package init(merchant: MerchantIdentifier, amount: UInt64) {
            self.merchant = merchant
            self.amount = amount
        }
    }

    /// What `paymentDataType` says and `paymentData` then holds.
    package enum DataType: String, CaseIterable, Sendable {
        case threeDSecure = "3DSecure"
        case emv = "EMV"
    }

    /// In the currency's minor units.
    package var amount: UInt64 = 1000
    /// ISO 4217 numeric, three digits.
    package var currency = "840"
    /// What the merchant set as `applicationData`; the token carries its SHA-256 only.
    package var applicationData: [UInt8]?
    package var signingTime: Timestamp
    package var dataType = DataType.threeDSecure
    package var leadingZeroSecret = false
    package var merchantTokenIdentifier: String?
    /// Whether the token tells about the card behind a merchant token, with what is in it made up.
    package var hasMerchantTokenMetadata = false
    package var authenticationResponses: [AuthenticationResponse] = []

    package init(signingTime: Timestamp) { self.signingTime = signingTime }

    /// Twelve digits, as the amount of an ISO 8583 message has.
    package static let largestAmount: UInt64 = 999_999_999_999

    /// - Throws: ``SandboxFault`` for an amount or a currency that no payment can have.
    func validate() throws(SandboxFault) {
        for amount in [amount] + authenticationResponses.map(\.amount) where amount > Self.largestAmount {
            throw SandboxFault("found the amount \(amount), expected at most \(Self.largestAmount)")
        }
        guard currency.utf8.count == 3, currency.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw SandboxFault("found the currency '\(currency)', expected three digits as in ISO 4217")
        }
    }
}

import FoundationEssentials

/// The payment that the caller expects. The daemon refuses a token that differs from a field that is set here, and
/// reports the other fields as `notChecked`.
public struct PaymentExpectation: Hashable, Sendable {
    /// The merchant that the token must belong to.
    public enum Merchant: Hashable, Sendable {
        /// The merchant with this identifier. The daemon refuses a token of another merchant.
        case named(String)
        /// Any merchant. The daemon records each decryption with `any` in the audit.
        case any
    }

    /// The merchant that the token must belong to.
    public var merchant: Merchant
    /// The numeric currency code of ISO 4217, three digits.
    public var currencyCode: String?
    /// The amount in the currency's minor unit, such as cents.
    public var transactionAmount: Int?
    /// The original bytes of the payment request's applicationData. The token contains a hash of these bytes. If this
    /// property is nil, the daemon does not check the hash.
    public var applicationData: [UInt8]?

    /// Creates an expectation. The daemon does not compare fields that are nil.
    public init(
        merchant: Merchant, currencyCode: String? = nil, transactionAmount: Int? = nil,
        applicationData: [UInt8]? = nil
    ) {
        self.merchant = merchant
        self.currencyCode = currencyCode
        self.transactionAmount = transactionAmount
        self.applicationData = applicationData
    }
}

extension PaymentExpectation: Encodable {
    private enum CodingKeys: String, CodingKey {
        case merchantIdentifier, currencyCode, transactionAmount, applicationData
    }

    /// Writes the member `expected` of a decrypt request.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch merchant {
        case .named(let identifier): try container.encode(identifier, forKey: .merchantIdentifier)
        case .any: try container.encode("any", forKey: .merchantIdentifier)
        }
        try container.encodeIfPresent(currencyCode, forKey: .currencyCode)
        try container.encodeIfPresent(transactionAmount, forKey: .transactionAmount)
        try container.encodeIfPresent(applicationData.map { Data($0).base64EncodedString() }, forKey: .applicationData)
    }
}

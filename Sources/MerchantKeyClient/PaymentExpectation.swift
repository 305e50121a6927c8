import FoundationEssentials

/// What the payment was to be. An absent field is reported as not checked.
public struct PaymentExpectation: Hashable, Sendable {
    /// Whose token it must be.
    public enum Merchant: Hashable, Sendable {
        /// This merchant's: a token of one merchant must not be spent at another.
        case named(String)
        /// Anybody's. The choice is audited.
        case any
    }

    /// Whose token it must be.
    public var merchant: Merchant
    /// ISO 4217, three digits.
    public var currencyCode: String?
    /// In minor units.
    public var transactionAmount: Int?
    /// The original bytes of the payment request's applicationData; nil leaves the token's hash of them unchecked.
    public var applicationData: [UInt8]?

    /// Expects what is given.
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

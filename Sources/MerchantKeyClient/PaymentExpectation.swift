import FoundationEssentials

/// The expected payment. The daemon does not compare an absent field and reports it as `notChecked`.
public struct PaymentExpectation: Hashable, Sendable {
    /// The merchant that the token must belong to.
    public enum Merchant: Hashable, Sendable {
        /// This merchant: a token of one merchant must not be used at another.
        case named(String)
        /// Any merchant. The audit records each use.
        case any
    }

    /// The merchant that the token must belong to.
    public var merchant: Merchant
    /// ISO 4217, three digits.
    public var currencyCode: String?
    /// In minor units.
    public var transactionAmount: Int?
    /// The original bytes of the payment request's applicationData; nil does not compare the token's hash of them.
    public var applicationData: [UInt8]?

    /// Creates an expectation; nil leaves a field unchecked.
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

import Crypto
import Vocabulary

/// The values that your program put into the payment request. A genuine token for that request has the same values.
///
/// A property that is nil is not compared, and its ``TransactionCheck`` has the outcome `notChecked`.
///
/// Source: Apple, "Payment token format reference", step 6.
public struct ExpectedTransaction: Sendable {
    /// The identifier of the merchant to be paid: `merchant.…`.
    ///
    /// Set it if you keep the keys of more than one merchant. Otherwise a token for one merchant could be used to pay
    /// another merchant.
    public var merchantIdentifier: String?
    /// The numeric ISO 4217 code of the currency: three digits.
    public var currencyCode: String?
    /// The amount in the currency's minor unit. An amount in a token matches if it is a JSON number or a JSON string
    /// with the same value. If an amount is not an integer (``TransactionAmount/minorUnits``), the texts must be equal.
    public var transactionAmount: TransactionAmount?
    /// The `applicationData` of the payment request: the original bytes, not their hash. The token contains their
    /// SHA-256 hash.
    public var applicationData: [UInt8]?

    /// Creates a set of expected values. Values that are nil are not compared.
    public init(
        merchantIdentifier: String? = nil, currencyCode: String? = nil, transactionAmount: TransactionAmount? = nil,
        applicationData: [UInt8]? = nil
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.currencyCode = currencyCode
        self.transactionAmount = transactionAmount
        self.applicationData = applicationData
    }

    /// Compares the expected currency, amount and applicationData with those of a decrypted token.
    ///
    /// The token does not contain the merchant identifier: compare it with ``compareMerchantIdentifier(with:)``.
    ///
    /// - Returns: three checks, for currency, amount and applicationData in this order.
    public func compare(with token: ApplePayToken, _ data: PaymentData) -> [TransactionCheck] {
        [
            TransactionCheck(.currencyCode, found: data.currencyCode, expected: currencyCode),
            TransactionCheck(
                .transactionAmount, found: data.transactionAmount.normalizedText,
                expected: transactionAmount?.normalizedText),
            compareApplicationData(with: token),
        ]
    }

    /// Compares the expected merchant identifier with the identifier of the merchant who owns the key to which the
    /// token is encrypted. Call this method before you decrypt.
    ///
    /// - Parameter keyOwner: the merchant identifier that is stored with the key.
    public func compareMerchantIdentifier(with keyOwner: String) -> TransactionCheck {
        TransactionCheck(.merchantIdentifier, found: keyOwner, expected: merchantIdentifier)
    }

    /// Compares the applicationData hash in the token with the hash of the expected bytes. The comparison needs no key,
    /// because the hash in the token is not encrypted.
    ///
    /// If ``applicationData`` is nil, the outcome is `notChecked`, even if the token has an applicationData hash. The
    /// signature covers the hash, so the hash is authentic if the signature is verified.
    public func compareApplicationData(with token: ApplePayToken) -> TransactionCheck {
        let found = token.applicationDataHash.map { Hex.encode($0) }
        guard let applicationData else { return TransactionCheck(.applicationData, found: found, expected: nil) }
        // "none" differs from every hash, so the check fails if the token has no hash.
        return TransactionCheck(
            .applicationData, found: found ?? "none", expected: Hex.encode(SHA256.hash(data: applicationData)))
    }
}

/// The result of comparing one field of a token with its expected value.
public struct TransactionCheck: Sendable, Equatable {
    /// The fields that can be compared.
    public enum Name: String, Sendable, CaseIterable {
        /// The identifier of the merchant to whose key the token is encrypted.
        case merchantIdentifier
        /// The currency.
        case currencyCode
        /// The amount.
        case transactionAmount
        /// The SHA-256 hash of the payment request's applicationData.
        case applicationData
    }

    /// The name of the field.
    public let name: Name
    /// The outcome; `notChecked` if there is no expected value.
    public let outcome: TokenVerification.Outcome
    /// The value in the token; for `merchantIdentifier`, the identifier of the merchant who owns the key. Must not be
    /// logged.
    public let found: SensitiveText?
    /// The value in the ``ExpectedTransaction``. Must not be logged.
    public let expected: SensitiveText?

    /// Compares two values as text. The outcome is `notChecked` if `expected` is nil.
    public init(_ name: Name, found: String?, expected: String?) {
        self.name = name
        self.found = found.map(SensitiveText.init)
        self.expected = expected.map(SensitiveText.init)
        outcome = expected == nil ? .notChecked : found == expected ? .passed : .failed
    }
}

extension TransactionAmount {
    /// The amount as text, for comparisons: an integer without leading zeros, or any other amount as it was sent.
    fileprivate var normalizedText: String { minorUnits.map { String($0) } ?? text }
}

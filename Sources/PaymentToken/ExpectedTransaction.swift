import Crypto
import Vocabulary

/// What the caller asked Apple for, to be held against what a token grants. What is nil is not checked and said to be so.
///
/// Source: Apple, "Payment token format reference", step 6.
public struct ExpectedTransaction: Sendable {
    /// Whose payment it is: `merchant.…`. Give it wherever keys of more than one merchant are kept, so that a token of one
    /// is never spent at another.
    public var merchantIdentifier: String?
    /// ISO 4217, numeric, three digits.
    public var currencyCode: String?
    /// In minor units; a number and a string of the same amount are equal.
    public var transactionAmount: TransactionAmount?
    /// The original bytes that the payment request had, not their hash. The token carries their SHA-256.
    public var applicationData: [UInt8]?

    /// An expectation; everything not given is not checked.
    public init(
        merchantIdentifier: String? = nil, currencyCode: String? = nil, transactionAmount: TransactionAmount? = nil,
        applicationData: [UInt8]? = nil
    ) {
        self.merchantIdentifier = merchantIdentifier
        self.currencyCode = currencyCode
        self.transactionAmount = transactionAmount
        self.applicationData = applicationData
    }

    /// Holds content and request against each other. Whose key it was is not in the token: see
    /// ``compareMerchantIdentifier(with:)``.
    ///
    /// - Returns: one entry for currency, amount and applicationData each, always all of them.
    public func compare(with token: ApplePayToken, _ data: PaymentData) -> [TransactionCheck] {
        [
            TransactionCheck(.currencyCode, found: data.currencyCode, expected: currencyCode),
            TransactionCheck(
                .transactionAmount, found: data.transactionAmount.comparable, expected: transactionAmount?.comparable),
            compareApplicationData(with: token),
        ]
    }

    /// Whose key a token names, as its keeper knows it; to be compared before anything is decrypted.
    public func compareMerchantIdentifier(with found: String) -> TransactionCheck {
        TransactionCheck(.merchantIdentifier, found: found, expected: merchantIdentifier)
    }

    /// Compares the hash in the token with the hash of the expected bytes; this needs no key, and can be done before anything
    /// is decrypted.
    ///
    /// Without expected bytes the outcome is `notChecked`, whether the token has applicationData or not. The signature covers
    /// the hash, so nobody can have changed it.
    public func compareApplicationData(with token: ApplePayToken) -> TransactionCheck {
        let found = token.applicationDataHash.map { Hex.encode($0) }
        guard let applicationData else { return TransactionCheck(.applicationData, found: found, expected: nil) }
        return TransactionCheck(
            .applicationData, found: found ?? "none", expected: Hex.encode(SHA256.hash(data: applicationData)))
    }
}

/// One field of a token held against what was expected of it.
public struct TransactionCheck: Sendable, Equatable {
    /// Which field.
    public enum Name: String, Sendable, CaseIterable {
        /// Whose key the token is encrypted to.
        case merchantIdentifier
        /// The currency.
        case currencyCode
        /// The amount.
        case transactionAmount
        /// The hash of the request's applicationData.
        case applicationData
    }

    /// Which field.
    public let name: Name
    /// `notChecked` where nothing was expected.
    public let outcome: TokenVerification.Outcome
    /// The token's value: for the caller alone, never for a log.
    public let found: SensitiveText?
    /// The caller's value: for the caller alone, never for a log.
    public let expected: SensitiveText?

    /// Compares two spellings; nothing expected is nothing checked.
    public init(_ name: Name, found: String?, expected: String?) {
        self.name = name
        self.found = found.map(SensitiveText.init)
        self.expected = expected.map(SensitiveText.init)
        outcome = expected == nil ? .notChecked : found == expected ? .passed : .failed
    }
}

extension TransactionAmount {
    /// One spelling for one amount, as far as it is an integer; otherwise as sent.
    fileprivate var comparable: String { minorUnits.map { String($0) } ?? text }
}

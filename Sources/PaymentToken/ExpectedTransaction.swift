import Crypto
import Vocabulary

/// What the caller asked Apple for, to be held against what a token grants. What is nil is not checked and said to be so.
///
/// Source: Apple, "Payment token format reference", step 6.
public struct ExpectedTransaction: Sendable {
    /// ISO 4217, numeric, three digits.
    public var currencyCode: String?
    /// In minor units; a number and a string of the same amount are equal.
    public var transactionAmount: TransactionAmount?
    /// The request's original bytes, not their hash.
    public var applicationData: [UInt8]?

    /// An expectation; everything not given is not checked.
    public init(
        currencyCode: String? = nil, transactionAmount: TransactionAmount? = nil, applicationData: [UInt8]? = nil
    ) {
        self.currencyCode = currencyCode
        self.transactionAmount = transactionAmount
        self.applicationData = applicationData
    }

    /// Holds both against each other.
    ///
    /// - Returns: one entry for each check, always all of them.
    public func compare(with token: ApplePayToken, _ data: PaymentData) -> [TransactionCheck] {
        [
            TransactionCheck(.currencyCode, found: data.currencyCode, expected: currencyCode),
            TransactionCheck(
                .transactionAmount, found: data.transactionAmount.comparable, expected: transactionAmount?.comparable),
            compareApplicationData(with: token),
        ]
    }

    /// The token's hash needs no key, and can be compared before anything is decrypted.
    ///
    /// A token that carries applicationData which nobody expected is a mismatch: it was made for another request.
    public func compareApplicationData(with token: ApplePayToken) -> TransactionCheck {
        let found = token.applicationDataHash.map { Hex.encode($0) }
        guard let applicationData else {
            return TransactionCheck(.applicationData, found: found, expected: found == nil ? nil : "none")
        }
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

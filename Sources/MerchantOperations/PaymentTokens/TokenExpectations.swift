import MerchantCore
package import PaymentToken
package import Vocabulary

/// The values that a decryptor expects in a token. The decryptor gets the plaintext only if the token has these values.
package struct TokenExpectations: Sendable {
    package enum ExpectedMerchant: Sendable {
        /// The token may belong to any merchant. The audit records each such decryption.
        case any
        /// The token must belong to this merchant.
        case only(MerchantIdentifier)
    }

    package let merchant: ExpectedMerchant
    package let transaction: ExpectedTransaction

    package init(merchant: ExpectedMerchant, transaction: ExpectedTransaction) {
        self.merchant = merchant
        self.transaction = transaction
    }
}

/// The result of comparing one value of a token with the expected value, or of claiming the token.
package struct ExpectationCheck: Sendable {
    package enum Outcome: String, Sendable { case passed, failed, notChecked }

    /// The name of the compared value, such as `transactionAmount`; `replay` for the claim.
    package let name: String
    package let outcome: Outcome
    /// The outcome in words.
    package let finding: String
}

extension TokenExpectations {
    /// Checks the merchant to whose key the token is encrypted.
    ///
    /// - Throws: `tokenMerchantMismatch` if another merchant was expected, naming both merchants.
    func requireMerchant(_ found: MerchantIdentifier) throws(MerchantError) {
        guard case .only(let expected) = merchant, expected != found else { return }
        throw MerchantError(
            .tokenMerchantMismatch, "the token is encrypted to a key of \(found), expected a key of \(expected)")
    }

    /// Compares a token's content with the expected values.
    ///
    /// - Returns: the result for each value. The first result is for the merchant.
    func compare(with token: ApplePayToken, _ data: PaymentData) -> [ExpectationCheck] {
        [merchantCheck] + transaction.compare(with: token, data).map { ExpectationCheck($0) }
    }

    /// The result for the merchant, which ``requireMerchant(_:)`` compared before the token was decrypted.
    private var merchantCheck: ExpectationCheck {
        switch merchant {
        case .any:
            ExpectationCheck(
                name: "merchantIdentifier", outcome: .notChecked, finding: "the request accepts any merchant")
        case .only(let merchant):
            ExpectationCheck(name: "merchantIdentifier", outcome: .passed, finding: "the key belongs to \(merchant)")
        }
    }
}

extension ExpectationCheck {
    fileprivate init(_ comparison: TransactionCheck) {
        name = comparison.name.rawValue
        switch comparison.outcome {
        case .passed:
            outcome = .passed
            finding = "as expected"
        case .notChecked:
            outcome = .notChecked
            finding =
                comparison.found == nil
                ? "the request gives no expected value, and the token has no value"
                : "the request gives no expected value, but the token has a value"
        case .failed:
            outcome = .failed
            // Not redacted: the caller must see the difference, and an amount, a currency or a digest of application
            // data identifies neither a card nor a cardholder.
            finding =
                "found \(comparison.found?.unredacted ?? "none"), expected \(comparison.expected?.unredacted ?? "none")"
        }
    }
}

import MerchantCore
package import PaymentToken
package import Vocabulary

/// The values that a decryptor expects in a token. It gets the plaintext only if the token has them.
package struct TokenExpectations: Sendable {
    package enum ExpectedMerchant: Sendable {
        /// Any merchant; the audit records this choice.
        case any
        case only(MerchantIdentifier)
    }

    package let merchant: ExpectedMerchant
    package let transaction: ExpectedTransaction

    package init(merchant: ExpectedMerchant, transaction: ExpectedTransaction) {
        self.merchant = merchant
        self.transaction = transaction
    }
}

/// The result of comparing one value of a token with the expected value.
package struct ExpectationCheck: Sendable {
    package enum Outcome: String, Sendable { case passed, failed, notChecked }

    package let name: String
    package let outcome: Outcome
    package let finding: String
}

extension TokenExpectations {
    /// - Throws: `tokenMerchantMismatch` if another merchant was expected, naming both merchants.
    func requireMerchant(_ found: MerchantIdentifier) throws(MerchantError) {
        guard case .only(let expected) = merchant, expected != found else { return }
        throw MerchantError(
            .tokenMerchantMismatch, "the token is encrypted to a key of \(found), expected one of \(expected)")
    }

    /// Compares a token's content with the expected values.
    ///
    /// - Throws: `tokenMismatch` for the first value that differs, naming the found and the expected value.
    func check(_ token: ApplePayToken, _ data: PaymentData) throws(MerchantError) -> [ExpectationCheck] {
        var checks = [merchantCheck]
        for check in transaction.compare(with: token, data) {
            let check = ExpectationCheck(check)
            if check.outcome == .failed { throw MerchantError(.tokenMismatch, "\(check.name): \(check.finding)") }
            checks.append(check)
        }
        return checks
    }

    /// The result for the merchant, which ``requireMerchant(_:)`` compared before the token was decrypted.
    private var merchantCheck: ExpectationCheck {
        switch merchant {
        case .any:
            ExpectationCheck(name: "merchantIdentifier", outcome: .notChecked, finding: "any merchant was expected")
        case .only(let merchant):
            ExpectationCheck(name: "merchantIdentifier", outcome: .passed, finding: "the key belongs to \(merchant)")
        }
    }
}

extension ExpectationCheck {
    fileprivate init(_ check: TransactionCheck) {
        name = check.name.rawValue
        switch check.outcome {
        case .passed:
            outcome = .passed
            finding = "as expected"
        case .notChecked:
            outcome = .notChecked
            finding = check.found == nil ? "nothing was expected" : "the token has a value, none was given to compare"
        case .failed:
            outcome = .failed
            finding = "found \(check.found?.exposed ?? "none"), expected \(check.expected?.exposed ?? "none")"
        }
    }
}

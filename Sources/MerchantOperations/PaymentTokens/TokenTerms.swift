package import PaymentToken
package import Vocabulary

/// How a decryptor wants a token opened.
package struct TokenTerms: Sendable {
    package enum Verification: Hashable, Sendable {
        /// Verify at the time of receipt, which is now, as Apple's reference requires. Claims the token unless that was
        /// declined.
        case now(claims: Bool)
        /// Verify at another time. This is recorded in the audit and claims nothing.
        case at(Timestamp)
        /// Do not verify. This is recorded in the audit and claims nothing.
        case declined
    }

    package let expectations: TokenExpectations
    package let verification: Verification

    package init(expectations: TokenExpectations, verification: Verification) {
        self.expectations = expectations
        self.verification = verification
    }
}

/// The key that a token is encrypted to.
package struct TokenKey: Hashable, Sendable {
    package let publicKeyHash: PublicKeyHash
    package let merchantIdentifier: MerchantIdentifier
    package let algorithm: KeyAlgorithm

    package init(publicKeyHash: PublicKeyHash, merchantIdentifier: MerchantIdentifier, algorithm: KeyAlgorithm) {
        self.publicKeyHash = publicKeyHash
        self.merchantIdentifier = merchantIdentifier
        self.algorithm = algorithm
    }
}

/// An opened token.
package struct OpenedToken: ~Copyable, Sendable {
    package let plaintext: DecryptedPaymentData
    /// The plaintext's fields.
    package let paymentData: PaymentData
    package let key: TokenKey
    /// nil if verification was declined.
    package let verification: TokenVerification?
    /// The comparisons with expected values, and the replay check.
    package let checks: [ExpectationCheck]
}

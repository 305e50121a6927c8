package import PaymentToken
package import Vocabulary

/// On what terms a decryptor wants a token opened.
package struct TokenTerms: Sendable {
    package enum Verification: Hashable, Sendable {
        /// As Apple's reference has it: at the time of receipt, which is now. Claims the token unless that was declined.
        case now(claims: Bool)
        /// Judged at another time: audited, and claims nothing.
        case at(Timestamp)
        /// Not verified at all: audited, and claims nothing.
        case declined
    }

    package let expectations: TokenExpectations
    package let verification: Verification

    package init(expectations: TokenExpectations, verification: Verification) {
        self.expectations = expectations
        self.verification = verification
    }
}

/// The key that a token is encrypted to, as far as opening it goes.
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

/// An opened token on its way to the caller.
package struct OpenedToken: ~Copyable, Sendable {
    package let plaintext: DecryptedPaymentData
    /// The plaintext's fields.
    package let paymentData: PaymentData
    package let key: TokenKey
    /// nil where verification was declined.
    package let verification: TokenVerification?
    /// What was expected, and the replay.
    package let checks: [ExpectationCheck]
}

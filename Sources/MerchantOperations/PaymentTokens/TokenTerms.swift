package import PaymentToken
package import Vocabulary

/// What a decryptor asks for when it has a token opened: which values it expects, and how the token is verified.
package struct TokenTerms: Sendable {
    package enum Verification: Hashable, Sendable {
        /// Verify the token at the time of its receipt, which is now, as Apple's reference requires. `claims` is false
        /// if the decryptor declined to claim the token.
        case now(claims: Bool)
        /// Verify the token at another time. The audit records this, and the token is not claimed.
        case at(Timestamp)
        /// Do not verify the token. The audit records this, and the token is not claimed.
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

package import PaymentToken
package import Vocabulary

/// What a decryptor's request to decrypt a token says: which values it expects in the token, and how the daemon must
/// verify the token.
package struct TokenTerms: Sendable {
    package enum Verification: Hashable, Sendable {
        /// Verify the token, and compare its signing time with the current time, as Apple's reference requires.
        /// If `claims` is true, the daemon claims the token: it records the use, and refuses other requests that would
        /// claim the token.
        case now(claims: Bool)
        /// Verify the token as if it had been received at this time. The audit records this, and the token is not
        /// claimed.
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

/// A token that was decrypted. It was also verified, unless the decryptor declined verification.
package struct OpenedToken: ~Copyable, Sendable {
    package let plaintext: DecryptedPaymentData
    /// The plaintext's fields.
    package let paymentData: PaymentData
    package let key: TokenKey
    /// nil if verification was declined.
    package let verification: TokenVerification?
    /// The comparisons with the expected values, and the result of the claim.
    package let checks: [ExpectationCheck]
}

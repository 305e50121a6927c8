public import FoundationEssentials

/// Verifies and decrypts payment tokens. It takes all seven steps of Apple's reference, in order.
///
/// The program that links this library supplies two functions: one finds merchant keys, and one claims transaction
/// identifiers, that is, records each as used. Use one opener for all tasks, because its verifier caches certificate
/// chains.
///
/// Source: Apple, "Payment token format reference".
public struct PaymentTokenOpener: Sendable {
    /// A function that returns the key with a publicKeyHash (44 characters of Base64, as in the token). It throws if no
    /// usable key has that hash.
    ///
    /// The function must find the key by its hash and must not try one key after another.
    public typealias FindKey = @Sendable (_ publicKeyHash: String) async throws -> MerchantKey
    /// A function that claims a transaction identifier: it records that a token with this identifier was accepted. It
    /// throws if the identifier is already recorded, so that each token is accepted only once.
    ///
    /// A claim must be on durable storage, be visible to all processes that open tokens, and last for at least ten
    /// minutes: a token is acceptable from five minutes before until five minutes after its signing time.
    public typealias Claim = @Sendable (TransactionId) async throws -> Void

    private let verifier: SignatureVerifier
    private let findKey: FindKey
    private let claim: Claim

    /// Creates an opener.
    public init(verifier: SignatureVerifier, findKey: @escaping FindKey, claim: @escaping Claim) {
        self.verifier = verifier
        self.findKey = findKey
        self.claim = claim
    }

    /// Verifies and decrypts a token, compares it with the expected transaction, and claims its transaction identifier.
    ///
    /// The claim is the last step. A rejected token claims nothing, so an attacker cannot block a genuine payment with
    /// a forged token that has the same identifier.
    ///
    /// - Parameters:
    ///   - token: the parsed token.
    ///   - receivedAt: the time at which the token was received.
    ///   - expected: the values of the payment request.
    /// - Returns: the plaintext. Its memory is wiped when the value is destroyed.
    /// - Throws: ``PaymentTokenError`` with code `verificationFailed`, `wrongKey`, `decryptionFailed` or
    ///   `plaintextMalformed`; ``TransactionMismatch``; or an error of one of the program's two functions.
    public func open(
        _ token: ApplePayToken, receivedAt: Date, expected: ExpectedTransaction
    ) async throws -> DecryptedPaymentData {
        try verifier.verify(token, receivedAt: receivedAt).requireVerified()
        try require([expected.compareApplicationData(with: token)])
        let key = try await findKey(token.publicKeyHashBase64)
        try require([expected.compareMerchantIdentifier(with: key.merchantIdentifier)])
        let opened = try token.decrypt(with: try await key.restoreSymmetricKey(token))
        try require(expected.compare(with: token, opened.paymentData()))
        try await claim(token.transactionId)
        return opened
    }

    private func require(_ checks: [TransactionCheck]) throws(TransactionMismatch) {
        if let mismatch = TransactionMismatch(checks) { throw mismatch }
    }
}

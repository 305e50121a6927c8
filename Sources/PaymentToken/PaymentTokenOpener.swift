public import FoundationEssentials

/// Verifies and decrypts payment tokens. It makes all checks of Apple's reference.
///
/// The program that links this library supplies two functions: one finds merchant keys, and one claims transaction
/// identifiers, that is, records each identifier as used. Use one opener for all tasks, because its verifier caches
/// certificate chains.
///
/// Source: Apple, "Payment token format reference".
public struct PaymentTokenOpener: Sendable {
    /// A function that returns the merchant key with the given publicKeyHash (44 characters of Base64, as in the
    /// token). The function throws if no usable key has this hash.
    ///
    /// The function must find the key by its hash. It must never try one key after another: a key that decrypts the
    /// token may belong to another merchant.
    public typealias FindKey = @Sendable (_ publicKeyHash: String) async throws -> MerchantKey
    /// A function that claims a transaction identifier: it records that a token with this identifier was accepted. The
    /// function throws if the identifier is already recorded, so that each token is accepted only once.
    ///
    /// When the function returns, the claim must be on stable storage and visible to all processes that open tokens.
    /// Keep the claim for at least ten minutes, because the opener accepts a token from five minutes before until five
    /// minutes after its signing time.
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
    /// The claim is the last step. The identifier of a rejected token is not claimed, so an attacker cannot block a
    /// genuine payment with a forged token that has the same transaction identifier.
    ///
    /// - Parameters:
    ///   - token: the parsed token.
    ///   - receivedAt: the time at which the token was received.
    ///   - expected: the values of the payment request.
    /// - Returns: the plaintext. Its memory is wiped when the value is destroyed.
    /// - Throws: ``PaymentTokenError`` with code `verificationFailed`, `wrongKeyLength`, `decryptionFailed` or
    ///   `plaintextMalformed`; ``TransactionMismatch``; or an error that `findKey`, `claim` or
    ///   ``MerchantKey/restoreSymmetricKey`` throws.
    public func open(
        _ token: ApplePayToken, receivedAt: Date, expected: ExpectedTransaction
    ) async throws -> DecryptedPaymentData {
        try verifier.verify(token, receivedAt: receivedAt).requireVerified()
        try requireMatch([expected.compareApplicationData(with: token)])
        let key = try await findKey(token.publicKeyHashBase64)
        try requireMatch([expected.compareMerchantIdentifier(with: key.merchantIdentifier)])
        let opened = try token.decrypt(with: try await key.restoreSymmetricKey(token))
        try requireMatch(expected.compare(with: token, opened.paymentData()))
        try await claim(token.transactionId)
        return opened
    }

    private func requireMatch(_ checks: [TransactionCheck]) throws(TransactionMismatch) {
        if let mismatch = TransactionMismatch(checks) { throw mismatch }
    }
}

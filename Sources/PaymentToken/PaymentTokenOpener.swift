public import FoundationEssentials

/// Verifies and decrypts payment tokens in a program that links this library: all seven steps of Apple's reference, in
/// order.
///
/// The program supplies a function that finds merchant keys and one that claims transaction identifiers. Use one opener
/// for all tasks: its verifier caches certificate chains.
///
/// Source: Apple, "Payment token format reference".
public struct PaymentTokenOpener: Sendable {
    /// A function that finds the key with a publicKeyHash (44 characters of Base64, as in the token), and throws if no
    /// usable key has that hash.
    ///
    /// The function must look the hash up and not try one key after another: a key that decrypts the token by chance
    /// belongs to another merchant.
    public typealias FindKey = @Sendable (_ publicKeyHash: String) async throws -> MerchantKey
    /// A function that claims a transaction identifier, and throws if it is already claimed.
    ///
    /// A claim must be durable, be visible to all processes, and last for at least ten minutes.
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
    /// The claim is the last step. A rejected token claims nothing, so an attacker cannot block a genuine payment by
    /// sending a forged token with its identifier.
    ///
    /// - Parameters:
    ///   - token: the parsed token.
    ///   - receivedAt: the time at which the token was received.
    ///   - expected: the values of the payment request.
    /// - Returns: the plaintext, in memory that is wiped when the value is destroyed.
    /// - Throws: ``PaymentTokenError`` with code `verificationFailed`, `wrongKey`, `decryptionFailed` or
    ///   `plaintextMalformed`; ``TransactionMismatch``; or an error of the two functions.
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

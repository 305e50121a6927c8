public import FoundationEssentials

/// All seven steps of Apple's reference in their order, for a program that links this library by itself: it brings a
/// function that finds merchant keys and one that claims transaction ids, and gets only what it may use.
///
/// Safe to share between tasks and meant to be: its verifier remembers chains that held.
///
/// Source: Apple, "Payment token format reference".
public struct PaymentTokenOpener: Sendable {
    /// Finds the one key of a publicKeyHash (44 characters of Base64, as the token spells it). Throws where there is none
    /// that may be used. Keys are looked up, never tried in turn: another key that happens to fit is another merchant's.
    public typealias FindKey = @Sendable (_ publicKeyHash: String) async throws -> MerchantKey
    /// Claims a transaction id durably, once for all processes, for at least ten minutes. Throws where it is claimed
    /// already.
    public typealias Claim = @Sendable (TransactionId) async throws -> Void

    private let verifier: SignatureVerifier
    private let findKey: FindKey
    private let claim: Claim

    /// An opener with the parts it cannot bring itself.
    public init(verifier: SignatureVerifier, findKey: @escaping FindKey, claim: @escaping Claim) {
        self.verifier = verifier
        self.findKey = findKey
        self.claim = claim
    }

    /// Verifies, finds the key, compares whose it is, decrypts, compares the rest, and claims last: a token refused for any
    /// reason claims nothing, so that nobody can burn the id of a real payment with a junk token.
    ///
    /// - Parameters:
    ///   - token: as it was read.
    ///   - receivedAt: when it came in, by the receiver's clock.
    ///   - expected: what the payment was to be.
    /// - Returns: the plaintext, in memory that wipes itself.
    /// - Throws: ``PaymentTokenError`` with code `verificationFailed`, `wrongKey`, `decryptionFailed` or
    ///   `plaintextMalformed`; ``TransactionMismatch``; or what the functions throw.
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

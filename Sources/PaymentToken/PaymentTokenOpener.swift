public import Crypto
public import FoundationEssentials

/// All seven steps of Apple's reference in their order, for a program that links this library by itself: it brings a
/// function that restores symmetric keys and one that claims transaction ids, and gets only what it may use.
public struct PaymentTokenOpener: Sendable {
    /// Finds the key by the token's publicKeyHash and restores the symmetric key. Throws where there is none.
    public typealias RestoreKey = @Sendable (ApplePayToken) async throws -> SymmetricKey
    /// Claims a transaction id durably, once for all processes. Throws where it is claimed already.
    public typealias Claim = @Sendable (TransactionId) async throws -> Void

    private let verifier: SignatureVerifier
    private let restoreKey: RestoreKey
    private let claim: Claim

    /// An opener with the parts it cannot bring itself.
    public init(verifier: SignatureVerifier, restoreKey: @escaping RestoreKey, claim: @escaping Claim) {
        self.verifier = verifier
        self.restoreKey = restoreKey
        self.claim = claim
    }

    /// Verifies, restores the key, decrypts, compares, and claims last: a token refused for any reason claims nothing,
    /// so that nobody can burn the id of a real payment with a junk token.
    ///
    /// - Throws: ``PaymentTokenError``, or what the two functions throw.
    public func open(
        _ token: ApplePayToken, receivedAt: Date, expected: ExpectedTransaction
    ) async throws -> DecryptedPaymentData {
        try verifier.verify(token, receivedAt: receivedAt).requireVerified()
        try require([expected.compareApplicationData(with: token)])
        let opened = try token.decrypt(with: try await restoreKey(token))
        try require(expected.compare(with: token, opened.paymentData()))
        try await claim(token.transactionId)
        return opened
    }

    private func require(_ checks: [TransactionCheck]) throws(PaymentTokenError) {
        guard let refusal = checks.first(where: { $0.outcome == .failed }) else { return }
        throw PaymentTokenError(.verificationFailed, "\(refusal.name.rawValue) differs from what was expected")
    }
}

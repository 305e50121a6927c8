import MerchantCore
import PaymentToken
import Vocabulary

extension PaymentTokenOperations {
    /// Records the signing time of a genuine token in ``TokenTimeWatch``, if its key pair is active.
    ///
    /// Only a token that can be decrypted is genuine. This method decrypts a token that fails no check but that of the
    /// signing time. If there was such a token recently, the method also decrypts tokens that pass all checks, because
    /// they show that the clock is right. To decrypt, it reads the store, and blocks the calling thread.
    func observeTime(of token: ApplePayToken, _ verification: TokenVerification, receivedAt: Timestamp) {
        // `resolveNow` needs no authorization here, because nothing about the key is returned.
        guard verification.failsOnlySigningTime || (verification.isVerified && tokenTimes.hasRefusals(at: receivedAt)),
            let key = try? resolveNow(token.publicKeyHash, countsAsUse: false, authorizing: { _ in }).keyPair,
            token.algorithm == key.algorithm,
            let data = try? plaintextNow(of: token, with: key.publicKeyHash).paymentData()
        else { return }
        tokenTimes.record(verification, data, key.merchantIdentifier, receivedAt: receivedAt)
    }

    /// Records the token's signing time if the key decrypts the token: only then is the token genuine. Discards the
    /// plaintext.
    func observeTime(
        of token: ApplePayToken, _ verification: TokenVerification, with key: TokenKey, receivedAt: Timestamp,
        blockingOn threads: any BlockingThreads
    ) async {
        guard token.algorithm == key.algorithm,
            let data = try? await plaintext(of: token, with: key.publicKeyHash, blockingOn: threads).paymentData()
        else { return }
        tokenTimes.record(verification, data, key.merchantIdentifier, receivedAt: receivedAt)
    }
}

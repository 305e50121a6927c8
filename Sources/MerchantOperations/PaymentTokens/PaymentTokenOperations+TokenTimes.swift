import MerchantCore
import PaymentToken
import Vocabulary

extension PaymentTokenOperations {
    /// Records the signing time of a genuine token in ``TokenTimeWatch``, if its key pair is active.
    ///
    /// To find out whether a token is genuine, this method decrypts the token. It does so only in two cases: the token
    /// fails only the check of the signing time; or the token passes, and another token recently failed only this
    /// check. In both cases the method reads the store on the calling thread, and blocks that thread.
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

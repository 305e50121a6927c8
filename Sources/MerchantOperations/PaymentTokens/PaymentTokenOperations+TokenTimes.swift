import MerchantCore
import PaymentToken
import Vocabulary

extension PaymentTokenOperations {
    /// Records the signing time of a genuine token in ``TokenTimeWatch``, if its key pair is active.
    ///
    /// An accepted token matters only if another one was refused for its time recently. Otherwise this does not decrypt
    /// it.
    func observeTime(of token: ApplePayToken, _ verification: TokenVerification, receivedAt: Timestamp) {
        guard verification.failsInTimeAlone || (verification.isVerified && tokenTimes.hasRefusals(at: receivedAt)),
            let key = try? resolveNow(token.publicKeyHash, countsAsUse: false, authorizing: { _ in }).keyPair
        else { return }
        observeTime(
            of: token, verification,
            with: TokenKey(
                publicKeyHash: key.publicKeyHash, merchantIdentifier: key.merchantIdentifier, algorithm: key.algorithm),
            receivedAt: receivedAt)
    }

    /// Records the token's signing time if the key decrypts the token, because only then is the token genuine. Discards
    /// the plaintext.
    func observeTime(
        of token: ApplePayToken, _ verification: TokenVerification, with key: TokenKey, receivedAt: Timestamp
    ) {
        guard token.algorithm == key.algorithm,
            let data = try? plaintext(of: token, with: key.publicKeyHash).paymentData()
        else { return }
        tokenTimes.record(verification, data, key.merchantIdentifier, receivedAt: receivedAt)
    }
}

import MerchantCore
import PaymentToken
import Vocabulary

extension MerchantOperations {
    /// Notes the signing time of a genuine token with ``TokenTimeWatch``, if its key is one of an active key pair here.
    ///
    /// Accepted tokens matter only where others were refused, so that their decryption is spared otherwise.
    func observeTime(of token: ApplePayToken, _ verification: TokenVerification, receivedAt: Timestamp) {
        guard verification.failsInTimeAlone || (verification.isVerified && tokenTimes.hasRefusals(at: receivedAt)),
            let key = try? resolveNow(token.publicKeyHash, countsAsUse: false, judging: { _ in }).keyPair
        else { return }
        observeTime(
            of: token, verification,
            with: TokenKey(
                publicKeyHash: key.publicKeyHash, merchantIdentifier: key.merchantIdentifier, algorithm: key.algorithm),
            receivedAt: receivedAt)
    }

    /// Decrypts the token to learn whether it is for this key, and drops the plaintext.
    func observeTime(
        of token: ApplePayToken, _ verification: TokenVerification, with key: TokenKey, receivedAt: Timestamp
    ) {
        guard token.algorithm == key.algorithm,
            let data = try? plaintext(of: token, with: key.publicKeyHash).paymentData()
        else { return }
        tokenTimes.record(verification, data, key.merchantIdentifier, receivedAt: receivedAt)
    }
}

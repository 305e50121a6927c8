public import Crypto

extension ApplePayToken.Version {
    /// The length of the symmetric key in bytes: 32 (AES-256) for EC_v1, 16 (AES-128) for RSA_v1.
    public var symmetricKeyLength: Int {
        switch self {
        case .ecV1: 32
        case .rsaV1: 16
        }
    }
}

extension ApplePayToken {
    /// Decrypts the token and checks its GCM tag. This method does not verify the signature.
    ///
    /// - Parameter key: the token's symmetric key, 32 bytes for EC_v1 and 16 bytes for RSA_v1.
    /// - Throws: ``PaymentTokenError`` with code `wrongKeyLength` if the key has another length, and `decryptionFailed`
    ///   if decryption fails. The detail of `decryptionFailed` is the same for every cause, so that it gives an
    ///   attacker no information.
    public func decrypt(with key: SymmetricKey) throws(PaymentTokenError) -> DecryptedPaymentData {
        DecryptedPaymentData(plaintext: try plaintext(decryptedWith: key))
    }
}

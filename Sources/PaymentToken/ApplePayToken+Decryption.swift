public import Crypto
import FoundationEssentials
import Secrets
import Vocabulary

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
    /// The AES-GCM initialization vector: 16 zero bytes.
    ///
    /// With 12 zero bytes, the usual length, decryption would fail: GCM derives its first counter block from 12 bytes
    /// in another way than from 16 bytes (NIST SP 800-38D section 7.1). A fixed vector is safe because each key
    /// encrypts only one token.
    static let initializationVector = [UInt8](repeating: 0, count: 16)
    /// The length of the GCM tag in bytes.
    static let tagLength = 16

    /// Decrypts the token and checks its GCM tag. This method does not verify the signature.
    ///
    /// - Parameter key: the token's symmetric key, 32 bytes for EC_v1 and 16 bytes for RSA_v1.
    /// - Throws: ``PaymentTokenError`` with code `wrongKeyLength` if the key has another length, and `decryptionFailed`
    ///   if decryption fails. The detail of `decryptionFailed` is the same for every cause, so that it gives an
    ///   attacker no information.
    public func decrypt(with key: SymmetricKey) throws(PaymentTokenError) -> DecryptedPaymentData {
        guard key.bitCount == version.symmetricKeyLength * 8 else {
            throw PaymentTokenError(
                .wrongKeyLength,
                "the symmetric key has \((key.bitCount / 8).counted("byte")), "
                    + "expected \(version.symmetricKeyLength) for \(version.rawValue)")
        }
        var plaintext: Data
        do {
            plaintext = try AES.GCM.open(
                AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: Self.initializationVector),
                    ciphertext: data.dropLast(Self.tagLength), tag: data.suffix(Self.tagLength)),
                using: key)
        } catch {
            throw PaymentTokenError(
                .decryptionFailed,
                "the token cannot be decrypted with this symmetric key: the key was computed with the wrong private "
                    + "key or merchant identifier, or the token was modified")
        }
        defer { Wipe.bytes(&plaintext) }
        return DecryptedPaymentData(plaintext: SecretBytes(copying: plaintext))
    }
}

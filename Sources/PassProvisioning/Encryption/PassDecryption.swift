public import Crypto
package import Secrets

/// Decrypts card data as Apple's broker does. This is possible only in tests and with the leaf of a sandbox, because an
/// issuer does not have the private key of Apple's leaf.
public enum PassDecryption {
    /// The length of an uncompressed point on P-256 in bytes.
    private static let pointLength = 65
    /// The first byte of an uncompressed point (SEC 1 section 2.3.3).
    private static let uncompressed: UInt8 = 0x04

    /// Decrypts card data, and calls a closure with the plaintext. The pointer is valid only during the call, and the
    /// plaintext is wiped afterwards.
    ///
    /// - Throws: ``PassDecryptionError``, the same for every cause.
    public static func withPlaintext<Result>(
        of pass: EncryptedPass, privateKey: P256.KeyAgreement.PrivateKey,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(PassDecryptionError) -> Result {
        let plaintext = try decrypt(pass, with: privateKey)
        return plaintext.withUnsafeBytes(body)
    }

    /// Decrypts card data with the private key of the leaf.
    ///
    /// - Throws: ``PassDecryptionError``, the same for every cause.
    package static func decrypt(
        _ pass: EncryptedPass, with privateKey: P256.KeyAgreement.PrivateKey
    ) throws(PassDecryptionError) -> SecretBytes {
        // swift-crypto checks that the point is on the curve. It would also accept a compressed point, so the length
        // and the first byte are checked here.
        guard pass.ephemeralPublicKey.count == pointLength, pass.ephemeralPublicKey.first == uncompressed,
            let ephemeral = try? P256.KeyAgreement.PublicKey(x963Representation: pass.ephemeralPublicKey),
            let secret = try? privateKey.sharedSecretFromKeyAgreement(with: ephemeral)
        else { throw .decryptionFailed }
        return try decrypt(pass, sharedSecret: secret)
    }

    /// Decrypts card data with the shared secret of the key agreement.
    package static func decrypt(
        _ pass: EncryptedPass, sharedSecret: SharedSecret
    ) throws(PassDecryptionError) -> SecretBytes {
        let key = PassKeyDerivation.symmetricKey(
            sharedSecret: sharedSecret, ephemeralPublicKey: pass.ephemeralPublicKey)
        return try PassCipher.open(pass.encryptedPassData, using: key)
    }
}

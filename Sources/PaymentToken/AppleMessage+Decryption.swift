import Crypto
import FoundationEssentials
import Secrets
import Vocabulary

/// The parameters of AES-GCM, which are the same for all messages.
enum MessageEncryption {
    /// The initialization vector: 16 zero bytes.
    ///
    /// With 12 zero bytes, the usual length, decryption would fail: the length determines how GCM derives its first
    /// counter block (NIST SP 800-38D section 7.1). A fixed vector is safe because each key encrypts only one message.
    static let initializationVector = [UInt8](repeating: 0, count: 16)
    /// The length of the GCM tag in bytes.
    static let tagLength = 16
}

extension AppleMessage {
    /// Decrypts the message and checks its GCM tag.
    ///
    /// - Throws: `wrongKeyLength` if the key does not have the length for this version, and `decryptionFailed` if
    ///   decryption fails. The detail of `decryptionFailed` is the same for every cause, so that it gives an attacker
    ///   no information.
    func plaintext(decryptedWith key: SymmetricKey) throws(PaymentTokenError) -> SecretBytes {
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
                    nonce: AES.GCM.Nonce(data: MessageEncryption.initializationVector),
                    ciphertext: data.dropLast(MessageEncryption.tagLength),
                    tag: data.suffix(MessageEncryption.tagLength)),
                using: key)
        } catch {
            throw PaymentTokenError(
                .decryptionFailed,
                "the \(Self.messageName) cannot be decrypted with this symmetric key: the key was computed with the "
                    + "wrong private key or merchant identifier, or the \(Self.messageName) was modified")
        }
        defer { Wipe.bytes(&plaintext) }
        return SecretBytes(copying: plaintext)
    }
}

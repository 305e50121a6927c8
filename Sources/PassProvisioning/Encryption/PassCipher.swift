import Crypto
import FoundationEssentials
import Secrets

/// The cipher of EV_ECC_v2: AES-256-GCM without additional data.
enum PassCipher {
    /// 12 zero bytes. Payment tokens use 16 zero bytes, with which Apple's broker cannot decrypt card data.
    ///
    /// A fixed vector is safe only because each key encrypts one message: the key comes from an ephemeral key pair that
    /// ``ProvisioningAttempt`` uses once.
    static let initializationVector = [UInt8](repeating: 0, count: 12)
    /// The length of the GCM tag in bytes.
    static let tagLength = 16

    /// - Returns: the ciphertext followed by the tag.
    static func seal(
        _ plaintext: borrowing SecretBytes, using key: SymmetricKey
    ) throws(PassEncryptionError) -> Data {
        try plaintext.withUnsafeBytes { (bytes) throws(PassEncryptionError) -> Data in
            do {
                let box = try AES.GCM.seal(bytes, using: key, nonce: AES.GCM.Nonce(data: initializationVector))
                var sealed = Data(capacity: bytes.count + tagLength)
                sealed.append(box.ciphertext)
                sealed.append(box.tag)
                return sealed
            } catch {
                throw .encryptionFailed
            }
        }
    }

    /// - Parameter sealed: the ciphertext followed by the tag.
    static func open(_ sealed: Data, using key: SymmetricKey) throws(PassDecryptionError) -> SecretBytes {
        guard sealed.count > tagLength else { throw .decryptionFailed }
        var plaintext: Data
        do {
            plaintext = try AES.GCM.open(
                AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: initializationVector), ciphertext: sealed.dropLast(tagLength),
                    tag: sealed.suffix(tagLength)), using: key)
        } catch {
            throw .decryptionFailed
        }
        defer { Wipe.bytes(&plaintext) }
        return SecretBytes(copying: plaintext)
    }
}

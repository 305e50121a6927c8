package import Crypto
package import Secrets

/// One attempt to encrypt card data: a fresh ephemeral key pair that encrypts once.
///
/// The value cannot be copied, and every `encrypt` method consumes it. So a program that would encrypt twice with the
/// same attempt does not compile. This matters because the initialization vector is fixed: two AES-GCM ciphertexts
/// under the same key and initialization vector would reveal the XOR of the plaintexts.
public struct ProvisioningAttempt: ~Copyable, Sendable {
    private let ephemeralKey: P256.KeyAgreement.PrivateKey

    /// Generates the ephemeral key pair.
    public init() { ephemeralKey = P256.KeyAgreement.PrivateKey() }

    /// Uses a given key pair, for test vectors only.
    package init(ephemeralKey: P256.KeyAgreement.PrivateKey) { self.ephemeralKey = ephemeralKey }

    /// Encrypts card data to the public key of the leaf certificate with EV_ECC_v2. The shared secret, the symmetric
    /// key and the ephemeral private key are wiped afterwards.
    ///
    /// - Parameters:
    ///   - plaintext: the serialized card data in UTF-8.
    ///   - certificates: the verified certificates.
    ///   - version: the encryption scheme that the app requested.
    /// - Throws: ``PassEncryptionError`` if the scheme is not supported, the plaintext is empty or the encryption
    ///   fails.
    package consuming func encrypt(
        _ plaintext: borrowing SecretBytes, for certificates: VerifiedProvisioningCertificates,
        version: EncryptionVersion = .eccV2
    ) throws(PassEncryptionError) -> EncryptedPass {
        try PassEncryption(plaintext, ephemeralKey: ephemeralKey, certificates: certificates, version: version).pass
    }

    /// Encrypts card data like `encrypt`, and returns each intermediate value.
    ///
    /// The trace contains secrets: call this method only in the sandbox environment.
    package consuming func encryptTraced(
        _ plaintext: borrowing SecretBytes, for certificates: VerifiedProvisioningCertificates,
        version: EncryptionVersion = .eccV2
    ) throws(PassEncryptionError) -> (EncryptedPass, EncryptionTrace) {
        let encryption = try PassEncryption(
            plaintext, ephemeralKey: ephemeralKey, certificates: certificates, version: version)
        let trace = EncryptionTrace(
            encryption, plaintext: plaintext, ephemeralKey: ephemeralKey, certificates: certificates)
        return (encryption.pass, trace)
    }
}

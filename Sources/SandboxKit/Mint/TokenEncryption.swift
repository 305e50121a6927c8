import Crypto
import CryptoExtras
import FoundationEssentials
import Vocabulary

/// The encrypted plaintext of a token, and the header field from which the merchant restores the symmetric key.
struct TokenEncryption {
    /// The ephemeral public key as DER SubjectPublicKeyInfo (EC_v1), or the wrapped key (RSA_v1).
    let keyMaterial: [UInt8]
    /// The ciphertext followed by the GCM tag.
    let data: [UInt8]

    /// Encrypts a plaintext to a payment processing certificate.
    ///
    /// - Parameter secretBeginsWithZero: whether to generate ephemeral keys until the shared secret begins with a zero
    ///   byte, as one secret in 256 does by chance. A decryptor that treats the secret as a number drops the zero byte,
    ///   and its decryption fails.
    init(_ plaintext: [UInt8], to certificate: ProcessingCertificate, secretBeginsWithZero: Bool) throws {
        switch certificate.key {
        case .p256(let publicKey):
            let (ephemeral, secret) = try Self.agree(with: publicKey, secretBeginsWithZero: secretBeginsWithZero)
            keyMaterial = Array(ephemeral.publicKey.derRepresentation)
            let key = Self.deriveKey(secret: secret, merchantHash: try certificate.merchantHash)
            data = try Self.seal(plaintext, under: key)
        case .rsa(let publicKey):
            guard !secretBeginsWithZero else {
                throw SandboxError(
                    "a shared secret with a leading zero byte needs an EC(P-256) certificate, "
                        + "because RSA_v1 has no shared secret"
                )
            }
            let key = SymmetricKey(size: .bits128)
            // RSA_v1 requires SHA-256 for the label and for MGF1. This padding uses SHA-256 for both.
            keyMaterial = try key.withUnsafeBytes {
                try Array(publicKey.encrypt(Data($0), padding: .PKCS1_OAEP_SHA256))
            }
            data = try Self.seal(plaintext, under: key)
        }
    }

    /// Generates an ephemeral key, and computes its shared secret with the merchant's public key.
    private static func agree(
        with publicKey: P256.KeyAgreement.PublicKey, secretBeginsWithZero: Bool
    ) throws -> (P256.KeyAgreement.PrivateKey, SharedSecret) {
        while true {
            let ephemeral = P256.KeyAgreement.PrivateKey()
            let secret = try ephemeral.sharedSecretFromKeyAgreement(with: publicKey)
            if !secretBeginsWithZero || secret.withUnsafeBytes({ $0.first == 0 }) { return (ephemeral, secret) }
        }
    }

    /// Derives the symmetric key with one round of the concatenation KDF (NIST SP 800-56A section 5.8.1). The hash
    /// covers, in this order: the counter, Z (the shared secret), AlgorithmID with a length byte, and PartyUInfo and
    /// PartyVInfo without length bytes.
    ///
    /// Source: Apple, "Restoring the symmetric key". The table there lists AlgorithmID before Z, which is a mistake.
    private static func deriveKey(secret: SharedSecret, merchantHash: MerchantIdentifierHash) -> SymmetricKey {
        var hash = SHA256()
        hash.update(data: [0, 0, 0, 1])
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: [0x0D] + Array("id-aes256-GCM".utf8))
        hash.update(data: Array("Apple".utf8))
        hash.update(data: merchantHash.bytes)
        return SymmetricKey(data: hash.finalize())
    }

    /// Encrypts with AES-GCM and an initialization vector of 16 zero bytes, which is safe because each key encrypts one
    /// token only.
    private static func seal(_ plaintext: [UInt8], under key: SymmetricKey) throws -> [UInt8] {
        let box = try AES.GCM.seal(plaintext, using: key, nonce: .init(data: [UInt8](repeating: 0, count: 16)))
        return Array(box.ciphertext) + Array(box.tag)
    }
}

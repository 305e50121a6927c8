import Crypto
import CryptoExtras
import FoundationEssentials
import Vocabulary

/// A token's plaintext encrypted to a processing certificate, with the header field that lets its holder decrypt it.
struct TokenEncryption {
    /// The ephemeral public key as DER SubjectPublicKeyInfo (EC_v1), or the wrapped key (RSA_v1).
    let keyMaterial: [UInt8]
    /// Ciphertext and tag.
    let data: [UInt8]

    /// - Parameter leadingZeroSecret: makes ephemeral keys until the shared secret begins with a zero byte, which one
    ///   in 256 does by chance and which breaks decryptors that treat the secret as a number.
    init(_ plaintext: [UInt8], to certificate: ProcessingCertificate, leadingZeroSecret: Bool) throws {
        switch certificate.key {
        case .p256(let publicKey):
            let (ephemeral, secret) = try Self.agree(with: publicKey, leadingZeroSecret: leadingZeroSecret)
            keyMaterial = Array(ephemeral.publicKey.derRepresentation)
            let key = Self.deriveKey(secret: secret, merchantHash: try certificate.merchantHash)
            data = try Self.seal(plaintext, under: key)
        case .rsa(let publicKey):
            guard !leadingZeroSecret else {
                throw SandboxFault("found an RSA certificate, expected EC(P-256): RSA_v1 has no shared secret")
            }
            let key = SymmetricKey(size: .bits128)
            // The hash of the mask generation function is SHA-256 too.
            keyMaterial = try key.withUnsafeBytes {
                try Array(publicKey.encrypt(Data($0), padding: .PKCS1_OAEP_SHA256))
            }
            data = try Self.seal(plaintext, under: key)
        }
    }

    private static func agree(
        with publicKey: P256.KeyAgreement.PublicKey, leadingZeroSecret: Bool
    ) throws -> (P256.KeyAgreement.PrivateKey, SharedSecret) {
        while true {
            let ephemeral = P256.KeyAgreement.PrivateKey()
            let secret = try ephemeral.sharedSecretFromKeyAgreement(with: publicKey)
            if !leadingZeroSecret || secret.withUnsafeBytes({ $0.first == 0 }) { return (ephemeral, secret) }
        }
    }

    /// One round of the concatenation KDF, NIST SP 800-56A section 5.8.1: counter, Z, AlgorithmID (with its length
    /// byte), PartyU (without one), PartyV.
    ///
    /// Source: Apple, "Restoring the symmetric key", whose table has the rows of Z and AlgorithmID swapped.
    private static func deriveKey(secret: SharedSecret, merchantHash: MerchantIdentifierHash) -> SymmetricKey {
        var hash = SHA256()
        hash.update(data: [0, 0, 0, 1])
        secret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: [0x0D] + Array("id-aes256-GCM".utf8))
        hash.update(data: Array("Apple".utf8))
        hash.update(data: merchantHash.bytes)
        return SymmetricKey(data: hash.finalize())
    }

    /// AES-GCM under an IV of 16 zero bytes: safe only because no key is ever used twice.
    private static func seal(_ plaintext: [UInt8], under key: SymmetricKey) throws -> [UInt8] {
        let box = try AES.GCM.seal(plaintext, using: key, nonce: .init(data: [UInt8](repeating: 0, count: 16)))
        return Array(box.ciphertext) + Array(box.tag)
    }
}

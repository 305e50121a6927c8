import Crypto
import CryptoExtras
import FoundationEssentials
import MerchantCore
import PaymentToken
import Secrets
import Vocabulary

/// An unsealed payment processing key, which restores the symmetric key of a token: an EC key derives it, an RSA key
/// decrypts (unwraps) it. Source: Apple, "Restoring the symmetric key".
///
/// Proof for @unchecked Sendable: both keys are immutable, and swift-crypto itself shares their storage between
/// threads. @unchecked is needed because swift-crypto does not mark `_RSA.Encryption.PrivateKey` as Sendable.
struct DecryptionKey: @unchecked Sendable {
    private enum Key {
        case ec(P256.KeyAgreement.PrivateKey)
        case rsa(_RSA.Encryption.PrivateKey)
    }

    private let key: Key
    private let merchant: MerchantIdentifierHash

    /// - Throws: swift-crypto's error if the bytes are not a private key of their algorithm.
    init(_ bytes: borrowing PrivateKeyBytes, of merchant: MerchantIdentifier) throws {
        self.merchant = MerchantIdentifierHash(of: merchant)
        key =
            switch bytes.algorithm {
            case .ecV1:
                .ec(try bytes.bytes.withUnsafeBytes { try P256.KeyAgreement.PrivateKey(rawRepresentation: $0) })
            case .rsaV1:
                .rsa(try bytes.bytes.withUnsafeBytes { try _RSA.Encryption.PrivateKey(derRepresentation: $0) })
            }
    }

    var publicKeyHash: PublicKeyHash {
        switch key {
        case .ec(let key): PublicKeyHash(of: P256SubjectPublicKeyInfo.encode(point: key.publicKey.x963Representation))
        case .rsa(let key): PublicKeyHash(of: key.publicKey.derRepresentation)
        }
    }

    /// - Throws: `malformed` if `material` does not fit the key. `decryptionFailed` if RSA unwrapping fails; its detail
    ///   is the same for every cause.
    func symmetricKey(from material: SymmetricKeyMaterial) throws(MerchantError) -> SecretBytes {
        switch (key, material) {
        case (.ec(let key), .ephemeralPublicKey(let bytes)): return try derive(key, bytes)
        case (.rsa(let key), .wrappedKey(let bytes)): return try unwrap(key, bytes)
        case (.ec, .wrappedKey):
            throw MerchantError(.malformed, "the key pair is EC_v1: send an ephemeralPublicKey instead of a wrappedKey")
        case (.rsa, .ephemeralPublicKey):
            throw MerchantError(
                .malformed, "the key pair is RSA_v1: send a wrappedKey instead of an ephemeralPublicKey")
        }
    }

    /// ECDH with the token's ephemeral public key, then Apple's key derivation.
    private func derive(
        _ key: P256.KeyAgreement.PrivateKey, _ ephemeralPublicKey: [UInt8]
    ) throws(MerchantError) -> SecretBytes {
        let sender: EphemeralPublicKey
        do { sender = try EphemeralPublicKey(derRepresentation: ephemeralPublicKey) } catch {
            throw MerchantError(.malformed, error.detail)
        }
        guard let secret = try? key.sharedSecretFromKeyAgreement(with: sender.agreementKey) else {
            throw MerchantError(
                .malformed, "the ephemeral public key gives no shared secret: it is not a valid point on P-256")
        }
        return SymmetricKeyDerivation.symmetricKey(sharedSecret: secret, merchant: merchant)
    }

    /// RSA-OAEP with SHA-256 for the label and for MGF1. Source: Apple, "Restoring the symmetric key".
    private func unwrap(_ key: _RSA.Encryption.PrivateKey, _ wrapped: [UInt8]) throws(MerchantError) -> SecretBytes {
        // The sender of the request already knows the length that it sent, so this error reveals nothing about the key.
        guard wrapped.count == Self.wrappedKeyLength else {
            throw MerchantError(
                .malformed, "the wrapped key has \(wrapped.count.counted("byte")), expected \(Self.wrappedKeyLength)")
        }
        // Wrong padding and a wrong length of the plaintext have the same error. If the errors differed, an attacker
        // could decrypt by sending chosen ciphertexts (Manger's attack).
        guard var opened = try? key.decrypt(wrapped, padding: .PKCS1_OAEP_SHA256) else { throw Self.unwrapFailed }
        defer { Wipe.bytes(&opened) }
        guard opened.count == Self.unwrappedKeyLength else { throw Self.unwrapFailed }
        return SecretBytes(copying: opened)
    }

    private static let wrappedKeyLength = 256
    private static let unwrappedKeyLength = 16
    private static let unwrapFailed = MerchantError(
        .decryptionFailed, "the wrapped key cannot be unwrapped with this key pair")
}

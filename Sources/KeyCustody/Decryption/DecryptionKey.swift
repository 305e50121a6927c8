import Crypto
import CryptoExtras
import FoundationEssentials
import MerchantCore
import PaymentToken
import Secrets
import Vocabulary

/// An unsealed payment processing key, ready to restore symmetric keys.
///
/// Proof for @unchecked Sendable: both keys are immutable, and swift-crypto itself shares their storage between threads; only
/// `_RSA.Encryption.PrivateKey` is not marked Sendable.
struct DecryptionKey: @unchecked Sendable {
    private enum Key {
        case ec(P256.KeyAgreement.PrivateKey)
        case rsa(_RSA.Encryption.PrivateKey)
    }

    private let key: Key
    private let merchant: MerchantIdentifierHash

    /// - Throws: swift-crypto's error for bytes that are not such a key.
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

    /// - Throws: `malformed`, or `decryptionFailed` with the same detail for every failure of an RSA unwrap.
    func symmetricKey(from material: SymmetricKeyMaterial) throws(MerchantError) -> SecretBytes {
        switch (key, material) {
        case (.ec(let key), .ephemeralPublicKey(let bytes)): return try agree(key, bytes)
        case (.rsa(let key), .wrappedKey(let bytes)): return try unwrap(key, bytes)
        case (.ec, .wrappedKey):
            throw MerchantError(.malformed, "found a wrappedKey, expected an ephemeralPublicKey: the key pair is EC_v1")
        case (.rsa, .ephemeralPublicKey):
            throw MerchantError(
                .malformed, "found an ephemeralPublicKey, expected a wrappedKey: the key pair is RSA_v1")
        }
    }

    private func agree(
        _ key: P256.KeyAgreement.PrivateKey, _ ephemeralPublicKey: [UInt8]
    ) throws(MerchantError) -> SecretBytes {
        let sender: EphemeralPublicKey
        do { sender = try EphemeralPublicKey(derRepresentation: ephemeralPublicKey) } catch {
            throw MerchantError(.malformed, error.detail)
        }
        guard let secret = try? key.sharedSecretFromKeyAgreement(with: sender.agreementKey) else {
            throw MerchantError(
                .malformed, "the ephemeral public key gives no shared secret, expected a point on P-256")
        }
        return SymmetricKeyDerivation.symmetricKey(sharedSecret: secret, merchant: merchant)
    }

    /// RSA-OAEP with SHA-256 for the label and for MGF1. Source: Apple, "Restoring the symmetric key".
    private func unwrap(_ key: _RSA.Encryption.PrivateKey, _ wrapped: [UInt8]) throws(MerchantError) -> SecretBytes {
        // The sender chose the length, so this error says nothing about the key.
        guard wrapped.count == Self.wrappedKeyLength else {
            throw MerchantError(
                .malformed, "the wrapped key has \(wrapped.count) bytes, expected \(Self.wrappedKeyLength)")
        }
        // One error for wrong padding and for a wrong length of the plaintext. The difference would help a sender of chosen
        // ciphertexts (Manger's attack).
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

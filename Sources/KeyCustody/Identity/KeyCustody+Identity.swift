import CLibCrypto
package import MerchantCore
package import Vocabulary

extension KeyCustody {
    /// Signs the bytes of a TLS handshake with an active identity key. Unseals the key for this one signature, and
    /// wipes the unsealed key afterwards.
    ///
    /// - Throws: `keyNotFound` for a key pair that is unknown, pending or has another purpose than `identity`;
    ///   `keyRevoked`, `keyDestroyed` or `keyDamaged`; `keyUnsupported` if the key cannot sign with `algorithm`.
    package func sign(
        _ bytes: [UInt8], with hash: PublicKeyHash, algorithm: TLSSignatureAlgorithm
    ) throws -> [UInt8] {
        defer { clibcrypto_overwrite_traces() }
        // A payment processing key must never sign bytes that a server chose.
        guard let found = try readKeyPair(hash), found.keyPair.purpose == .identity,
            found.keyPair.state != .pending
        else { throw Self.notFound(hash) }
        guard found.keyPair.state != .destroyed else { throw Self.destroyed(hash) }
        guard found.keyPair.state.isActive else {
            throw MerchantError(.keyRevoked, "the identity key pair \(hash) is revoked")
        }
        let binding = KeyBinding(found.keyPair)
        let privateKey = try unseal(found)
        guard let key = try? SigningKey(privateKey), PublicKeyHash(of: key.subjectPublicKeyInfo) == hash else {
            throw Keyring.damaged(binding, "is not the private half of that key pair")
        }
        return try key.tlsSignature(over: bytes, algorithm)
    }
}

public import Crypto
import Glibc
package import Secrets
package import Vocabulary

/// The derivation of the AES-256 key of an EC_v1 token from the shared secret of the key agreement.
///
/// The derivation is one round of the one-step key derivation of NIST SP 800-56A revision 3, section 5.8.2.1: SHA-256
/// over counter ‖ Z ‖ AlgorithmID ‖ PartyUInfo ‖ PartyVInfo, where Z is the shared secret. Apple's page "Restoring the
/// symmetric key" lists AlgorithmID before Z, but real tokens need the order of NIST.
public enum SymmetricKeyDerivation {
    /// The number of the round as 32 bits, big-endian. The first and only round has the number 1.
    private static let counter: [UInt8] = [0, 0, 0, 1]
    /// AlgorithmID and PartyUInfo. AlgorithmID is the length byte 13 and `id-aes256-GCM`. PartyUInfo is `Apple` without
    /// a length byte.
    private static let algorithmAndPartyU = [0x0D] + Array("id-aes256-GCMApple".utf8)

    /// Derives the symmetric key of a token from the shared secret.
    ///
    /// - Parameters:
    ///   - sharedSecret: Z, the x coordinate of the ECDH result: 32 bytes including leading zeros. One secret in 256
    ///     begins with a zero byte. Big-integer libraries drop this byte, and the derived key is then wrong.
    ///   - merchantIdentifier: the identifier of the merchant who owns the key, as registered with Apple: `merchant.…`.
    ///     Its SHA-256 hash is PartyVInfo, 32 raw bytes.
    /// - Returns: a key of 32 bytes.
    /// - Throws: ``PaymentTokenError`` with code `malformed` if the merchant identifier is not valid.
    public static func symmetricKey(
        sharedSecret: SharedSecret, merchantIdentifier: String
    ) throws(PaymentTokenError) -> SymmetricKey {
        guard let identifier = MerchantIdentifier(merchantIdentifier) else {
            throw PaymentTokenError(.malformed, "the merchant identifier is invalid: \(MerchantIdentifier.expectation)")
        }
        let key = symmetricKey(sharedSecret: sharedSecret, merchant: MerchantIdentifierHash(of: identifier))
        return key.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    /// Derives the symmetric key into memory that is wiped when the value is destroyed.
    ///
    /// - Parameters:
    ///   - sharedSecret: Z, 32 bytes.
    ///   - merchant: PartyVInfo, the SHA-256 hash of the merchant identifier.
    /// - Returns: 32 bytes.
    package static func symmetricKey(sharedSecret: SharedSecret, merchant: MerchantIdentifierHash) -> SecretBytes {
        var hash = SHA256()
        hash.update(data: counter)
        sharedSecret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: algorithmAndPartyU)
        hash.update(data: merchant.bytes)
        var digest = hash.finalize()
        // A digest of 32 bytes is not empty, so its base address is not nil.
        // swift-format-ignore: NeverForceUnwrap
        defer { withUnsafeMutableBytes(of: &digest) { explicit_bzero($0.baseAddress!, $0.count) } }
        return SecretBytes(count: SHA256.byteCount) { memory in
            digest.withUnsafeBytes { memory.copyMemory(from: $0) }
        }
    }
}

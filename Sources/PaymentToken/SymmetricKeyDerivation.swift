public import Crypto
import Glibc
package import Secrets
package import Vocabulary

/// From a shared secret to the AES-256 key of an EC_v1 token.
///
/// One round of the single-step key derivation of NIST SP 800-56A revision 3, section 5.8.2.1, with SHA-256:
/// counter ‖ Z ‖ AlgorithmID ‖ PartyUInfo ‖ PartyVInfo. Apple's page "Restoring the symmetric key" lists the rows of Z
/// and AlgorithmID the other way round; this order opens real tokens.
public enum SymmetricKeyDerivation {
    /// The round's number, big-endian, counted from one.
    private static let counter: [UInt8] = [0, 0, 0, 1]
    /// AlgorithmID: `id-aes256-GCM` behind a byte that holds its length, 13; then PartyUInfo: `Apple`, without a length.
    private static let algorithmAndPartyU = [0x0D] + Array("id-aes256-GCMApple".utf8)

    /// The result of the key agreement made into the key, for the merchant whose key took part in it.
    ///
    /// - Parameters:
    ///   - sharedSecret: Z, the x coordinate of the ECDH result: 32 bytes, leading zeros kept (one secret in 256 begins
    ///     with one, and big-integer libraries drop it).
    ///   - merchantIdentifier: as registered at Apple, `merchant.…`; its SHA-256 is PartyVInfo, as 32 raw bytes.
    /// - Returns: a key of 32 bytes.
    /// - Throws: ``PaymentTokenError`` with code `malformed` unless the identifier has a merchant identifier's form.
    public static func symmetricKey(
        sharedSecret: SharedSecret, merchantIdentifier: String
    ) throws(PaymentTokenError) -> SymmetricKey {
        guard let identifier = MerchantIdentifier(merchantIdentifier) else {
            throw PaymentTokenError(.malformed, "not a merchant identifier, \(MerchantIdentifier.expectation)")
        }
        let key = symmetricKey(sharedSecret: sharedSecret, merchant: MerchantIdentifierHash(of: identifier))
        return key.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    /// As above, in memory that wipes itself.
    ///
    /// - Returns: 32 bytes.
    package static func symmetricKey(sharedSecret: SharedSecret, merchant: MerchantIdentifierHash) -> SecretBytes {
        var hash = SHA256()
        hash.update(data: counter)
        sharedSecret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: algorithmAndPartyU)
        hash.update(data: merchant.bytes)
        var digest = hash.finalize()
        // 32 bytes: never empty, so there is a base address.
        // swift-format-ignore: NeverForceUnwrap
        defer { withUnsafeMutableBytes(of: &digest) { explicit_bzero($0.baseAddress!, $0.count) } }
        return SecretBytes(count: SHA256.byteCount) { memory in
            digest.withUnsafeBytes { memory.copyMemory(from: $0) }
        }
    }
}

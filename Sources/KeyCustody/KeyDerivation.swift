import Crypto
import Glibc
import Secrets
import Vocabulary

/// From an ECDH shared secret to an EC_v1 token's symmetric key.
///
/// One round of SHA-256: 00000001 ‖ Z ‖ 0D `id-aes256-GCM` ‖ `Apple` ‖ SHA-256(merchant identifier).
///
/// Source: NIST SP 800-56A section 5.8.1 as used by Apple, "Restoring the symmetric key".
enum KeyDerivation {
    private static let counter: [UInt8] = [0, 0, 0, 1]
    /// AlgorithmID behind its length, then PartyUInfo, which has none.
    private static let otherInfo = [0x0d] + Array("id-aes256-GCMApple".utf8)

    /// - Parameters:
    ///   - sharedSecret: the x coordinate, 32 bytes with its leading zeros.
    ///   - merchant: PartyVInfo, as 32 raw bytes.
    /// - Returns: 32 bytes.
    static func symmetricKey(sharedSecret: SharedSecret, merchant: MerchantIdentifierHash) -> SecretBytes {
        var hasher = SHA256()
        hasher.update(data: counter)
        sharedSecret.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        hasher.update(data: otherInfo)
        hasher.update(data: merchant.bytes)
        var digest = hasher.finalize()
        // 32 bytes: never empty, so there is a base address.
        defer { withUnsafeMutableBytes(of: &digest) { explicit_bzero($0.baseAddress!, $0.count) } }
        return SecretBytes(count: SHA256.byteCount) { memory in
            digest.withUnsafeBytes { memory.copyMemory(from: $0) }
        }
    }
}

import Crypto
import FoundationEssentials
import Secrets

/// The derivation of the AES-256 key of EV_ECC_v2 from the shared secret of the key agreement.
///
/// The derivation is one round of the one-step key derivation of NIST SP 800-56A revision 3, section 5.8.2.1: SHA-256
/// over counter ‖ Z ‖ AlgorithmID ‖ PartyUInfo ‖ PartyVInfo, where Z is the shared secret. Payment tokens use the same
/// derivation with another PartyVInfo.
enum PassKeyDerivation {
    /// The number of the round as 32 bits, big-endian. The first and only round has the number 1.
    private static let counter: [UInt8] = [0, 0, 0, 1]
    /// AlgorithmID and PartyUInfo. AlgorithmID is the length byte 13 and `id-aes256-GCM`. PartyUInfo is `Apple` without
    /// a length byte.
    private static let algorithmAndPartyU = [0x0D] + Array("id-aes256-GCMApple".utf8)

    /// Derives the symmetric key.
    ///
    /// - Parameters:
    ///   - sharedSecret: Z, 32 bytes.
    ///   - ephemeralPublicKey: PartyVInfo, the ephemeral public key as an uncompressed point of 65 bytes.
    /// - Returns: a key of 32 bytes.
    static func symmetricKey(sharedSecret: SharedSecret, ephemeralPublicKey: Data) -> SymmetricKey {
        var hash = SHA256()
        hash.update(data: counter)
        sharedSecret.withUnsafeBytes { hash.update(bufferPointer: $0) }
        hash.update(data: algorithmAndPartyU)
        hash.update(data: ephemeralPublicKey)
        var digest = hash.finalize()
        defer { withUnsafeMutableBytes(of: &digest) { Wipe.overwrite(UnsafeRawBufferPointer($0)) } }
        return digest.withUnsafeBytes { SymmetricKey(data: $0) }
    }

    /// The input of SHA-256. It contains the shared secret and is only for a trace.
    static func tracedInput(sharedSecret: SharedSecret, ephemeralPublicKey: Data) -> [UInt8] {
        counter + sharedSecret.withUnsafeBytes { Array($0) } + algorithmAndPartyU + Array(ephemeralPublicKey)
    }
}

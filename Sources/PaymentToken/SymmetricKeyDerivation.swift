public import Crypto
import FoundationEssentials
package import Vocabulary

/// From a shared secret to the AES-256 key of an EC_v1 token.
///
/// One round of the single-step key derivation of NIST SP 800-56A revision 3, section 5.8.2.1, with SHA-256:
/// counter ‖ Z ‖ AlgorithmID ‖ PartyUInfo ‖ PartyVInfo. Apple's page "Restoring the symmetric key" lists the rows of Z
/// and AlgorithmID the other way round; this order opens real tokens.
public enum SymmetricKeyDerivation {
    /// The round's number, big-endian, counted from one.
    static let counter: [UInt8] = [0, 0, 0, 1]
    /// `id-aes256-GCM` behind a byte that holds its length, 13.
    static let algorithmID: [UInt8] = [0x0D] + Array("id-aes256-GCM".utf8)
    /// `Apple`, without a length.
    static let partyUInfo = Array("Apple".utf8)
    /// Bytes in an x coordinate of P-256, leading zeros kept.
    static let sharedSecretLength = 32

    /// - Parameters:
    ///   - sharedSecret: Z, the x coordinate of the ECDH result: 32 bytes, leading zeros kept (one secret in 256 begins
    ///     with one, and big-integer libraries drop it).
    ///   - merchantIdentifierHash: PartyVInfo, as 32 raw bytes.
    /// - Returns: 32 bytes, in a type that wipes itself. Everything else this function touches is public.
    package static func symmetricKey(
        sharedSecret: UnsafeRawBufferPointer, merchantIdentifierHash: MerchantIdentifierHash
    ) -> SymmetricKey {
        precondition(
            sharedSecret.count == sharedSecretLength, "ECDH on P-256 yields an x coordinate of 32 bytes, SEC 1 2.3.5")
        var hash = SHA256()
        hash.update(data: counter)
        hash.update(bufferPointer: sharedSecret)
        hash.update(data: algorithmID)
        hash.update(data: partyUInfo)
        hash.update(data: merchantIdentifierHash.bytes)
        return SymmetricKey(data: hash.finalize())
    }

    /// The same for the result of a key agreement in swift-crypto.
    ///
    /// - Throws: ``PaymentTokenError`` with code `malformed` unless the identifier has a merchant identifier's form.
    public static func symmetricKey(
        sharedSecret: SharedSecret, merchantIdentifier: String
    ) throws(PaymentTokenError) -> SymmetricKey {
        guard let identifier = MerchantIdentifier(merchantIdentifier) else {
            throw PaymentTokenError(.malformed, "not a merchant identifier, \(MerchantIdentifier.expectation)")
        }
        return sharedSecret.withUnsafeBytes {
            symmetricKey(sharedSecret: $0, merchantIdentifierHash: MerchantIdentifierHash(of: identifier))
        }
    }
}

import Crypto
import MerchantCore

/// `SubjectPublicKeyInfo` of a P-256 key in its one accepted spelling: named curve, uncompressed point; 91 bytes.
///
/// Source: RFC 5480 section 2.
enum P256PublicKeyInfo {
    /// SEQUENCE { SEQUENCE { id-ecPublicKey, prime256v1 }, BIT STRING of 65 bytes }, up to the point.
    private static let prefix: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce,
        0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]
    static let length = 91

    /// - Parameter point: X9.63, 65 bytes.
    static func encode(point: some Sequence<UInt8>) -> [UInt8] { prefix + point }

    /// - Throws: `malformed` for any other length, curve or form, and for a point that is not on the curve.
    static func decode(_ bytes: [UInt8]) throws(MerchantError) -> P256.KeyAgreement.PublicKey {
        guard bytes.count == length else {
            throw MerchantError(
                .malformed,
                "the ephemeral public key has \(bytes.count) bytes, expected \(length): a P-256 SubjectPublicKeyInfo"
            )
        }
        guard bytes.starts(with: prefix), bytes[prefix.count] == 0x04 else {
            throw MerchantError(
                .malformed,
                "the ephemeral public key is not the SubjectPublicKeyInfo of an uncompressed P-256 point, expected one")
        }
        // swift-crypto checks that the point satisfies the curve's equation: without that, a chosen point off the curve
        // draws the private key out bit by bit.
        guard let key = try? P256.KeyAgreement.PublicKey(x963Representation: bytes[prefix.count...]) else {
            throw MerchantError(.malformed, "the ephemeral public key is not a point on P-256, expected one")
        }
        return key
    }
}

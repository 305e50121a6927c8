import Crypto
import FoundationEssentials

/// Identifies a key pair. A payment token contains the hash of the key that it is encrypted to.
///
/// SHA-256 over the DER `SubjectPublicKeyInfo` of the public key: 32 bytes, or 44 characters of Base64. The hash is
/// public: tokens contain it, and it can be computed from the certificate.
///
/// Source: Apple, "Payment token format reference", header key `publicKeyHash`.
package struct PublicKeyHash: Digest256, TextValue {
    package let bits: Bits256

    package init(bits: Bits256) { self.bits = bits }

    /// - Parameter subjectPublicKeyInfo: DER, RFC 5280 section 4.1.2.7.
    package init(of subjectPublicKeyInfo: some Sequence<UInt8>) {
        guard let bits = Bits256(bytes: Array(SHA256.hash(data: Array(subjectPublicKeyInfo)))) else {
            preconditionFailure("SHA-256 yields 32 bytes, FIPS 180-4")
        }
        self.bits = bits
    }

    /// Reads the form in payment tokens: 44 characters of Base64, standard alphabet, padded.
    package init?(base64: String) {
        guard base64.utf8.count == 44, let data = Base64.decode(base64) else { return nil }
        self.init(bytes: data)
    }

    /// Reads Base64, Base64url without padding, or 64 hexadecimal digits.
    package init?(anySpelling text: some StringProtocol) {
        switch text.utf8.count {
        case 64:
            guard let bytes = Hex.decode(text) else { return nil }
            self.init(bytes: bytes)
        case 44: self.init(base64: String(text))
        case 43:
            // Base64url has neither `+` nor `/`.
            guard !text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }) else { return nil }
            self.init(base64: Base64.standardAlphabet(text) + "=")
        default: return nil
        }
    }

    package init?(text: String) { self.init(anySpelling: text) }

    package var text: String { base64 }

    /// The end of an error message. The caller writes the name of a field before it.
    package static func refusal(of text: String) -> String {
        "is not a publicKeyHash, expected 44 characters of Base64, 43 of Base64url or 64 hexadecimal digits"
    }
}

/// SHA-256 over a merchant identifier's ASCII bytes. A certificate contains the hash in the extension
/// 1.2.840.113635.100.6.32, in upper-case hexadecimal. The key derivation of `EC_v1` tokens uses the 32 bytes as
/// PartyVInfo.
package struct MerchantIdentifierHash: Digest256, TextValue {
    package let bits: Bits256

    package init(bits: Bits256) { self.bits = bits }

    package init(of identifier: MerchantIdentifier) {
        guard let bits = Bits256(bytes: Array(SHA256.hash(data: Array(identifier.rawValue.utf8)))) else {
            preconditionFailure("SHA-256 yields 32 bytes, FIPS 180-4")
        }
        self.bits = bits
    }

    package init?(text: String) {
        guard let bytes = Hex.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    package var text: String { hex }

    /// The end of an error message. The caller writes the name of a field before it.
    package static func refusal(of text: String) -> String { "is not a SHA-256, expected 64 hexadecimal digits" }
}

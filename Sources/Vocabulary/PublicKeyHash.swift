import Crypto
import FoundationEssentials

/// Identifies a key pair. A payment token names the key that it is encrypted to by this hash.
///
/// SHA-256 over the DER `SubjectPublicKeyInfo` of the public key: 32 bytes, or 44 characters of Base64. The hash is
/// public: tokens contain it, and it can be computed from the certificate.
///
/// Source: Apple, "Payment token format reference", header key `publicKeyHash`.
package struct PublicKeyHash: Digest256, TextValue {
    package let words: Words256

    package init(words: Words256) { self.words = words }

    /// - Parameter subjectPublicKeyInfo: DER, RFC 5280 section 4.1.2.7.
    package init(of subjectPublicKeyInfo: some Sequence<UInt8>) {
        guard let words = Words256(bytes: Array(SHA256.hash(data: Array(subjectPublicKeyInfo)))) else {
            preconditionFailure("SHA-256 yields 32 bytes, FIPS 180-4")
        }
        self.words = words
    }

    /// Reads the spelling in payment tokens: 44 characters of Base64, standard alphabet, padded.
    package init?(base64: String) {
        guard base64.utf8.count == 44, let data = Base64.decode(base64) else { return nil }
        self.init(bytes: data)
    }

    /// Reads any of the three spellings in use: Base64, Base64url without padding, 64 hexadecimal digits.
    package init?(anySpelling text: some StringProtocol) {
        switch text.utf8.count {
        case 64:
            guard let bytes = Hex.decode(text) else { return nil }
            self.init(bytes: bytes)
        case 44: self.init(base64: String(text))
        case 43:
            guard !text.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }) else { return nil }
            self.init(base64: Base64.standardAlphabet(text) + "=")
        default: return nil
        }
    }

    package init?(text: String) { self.init(anySpelling: text) }

    package var text: String { base64 }

    package static func refusal(of text: String) -> String {
        "is not a publicKeyHash, expected 44 characters of Base64, 43 of Base64url or 64 hexadecimal digits"
    }
}

/// SHA-256 over a merchant identifier's ASCII bytes. A certificate contains it in the extension
/// 1.2.840.113635.100.6.32, in upper-case hexadecimal. The EC_v1 key derivation uses its 32 bytes as PartyV.
package struct MerchantIdentifierHash: Digest256, TextValue {
    package let words: Words256

    package init(words: Words256) { self.words = words }

    package init(of identifier: MerchantIdentifier) {
        guard let words = Words256(bytes: Array(SHA256.hash(data: Array(identifier.rawValue.utf8)))) else {
            preconditionFailure("SHA-256 yields 32 bytes, FIPS 180-4")
        }
        self.words = words
    }

    package init?(text: String) {
        guard let bytes = Hex.decode(text) else { return nil }
        self.init(bytes: bytes)
    }

    package var text: String { hex }

    package static func refusal(of text: String) -> String { "is not a SHA-256, expected 64 hexadecimal digits" }
}

import StrictJSON
import Vocabulary

/// The permitted lengths of the decoded parts of a message, in bytes.
///
/// In a real token, the data has about 200 bytes, and the signature about 2,700. The data is longer if it contains an
/// EMV record, or the card images of a merchant token. The shortest data is an encrypted `{}` (2 bytes) and the GCM tag
/// (16 bytes).
enum PermittedLength {
    static let data = 18...32_768
    static let signature = 0...16_384
    static let applicationDataHash = 32
}

/// The fields that payment tokens and encrypted token metadata have in common.
extension JSONFields {
    /// Reads the key material of the given version. The fields must not contain the key material of the other version.
    ///
    /// - Parameter path: the path of these fields with a final dot, such as `header.`; empty for the outermost object.
    mutating func keyMaterial(
        of version: ApplePayToken.Version, at path: String
    ) throws(JSONFault) -> ApplePayToken.KeyMaterial {
        let (expected, forbidden) =
            switch version {
            case .ecV1: ("ephemeralPublicKey", "wrappedKey")
            case .rsaV1: ("wrappedKey", "ephemeralPublicKey")
            }
        guard try value(forbidden) == nil else {
            throw JSONFault(
                "version \(version.rawValue) requires '\(path)\(expected)' "
                    + "and does not permit '\(path)\(forbidden)'")
        }
        let bytes = try decodedBase64(expected, 1...512)
        do {
            switch version {
            case .ecV1: return .ephemeralPublicKey(try EphemeralPublicKey(derRepresentation: bytes))
            case .rsaV1: return .wrappedKey(try WrappedKey(bytes: bytes))
            }
        } catch { throw JSONFault(error.detail) }
    }

    /// - Parameter path: the path of these fields with a final dot; empty for the outermost object.
    mutating func publicKeyHash(at path: String) throws(JSONFault) -> PublicKeyHash {
        let text = try requiredString("publicKeyHash")
        guard let hash = PublicKeyHash(base64: text) else {
            throw JSONFault(
                "'\(path)publicKeyHash' is not a SHA-256 hash in Base64, expected 44 characters with padding")
        }
        return hash
    }

    /// Reads and decodes a required Base64 field. `permittedLength` counts decoded bytes.
    mutating func decodedBase64(_ name: String, _ permittedLength: ClosedRange<Int>) throws(JSONFault) -> [UInt8] {
        let text = try requiredString(name)
        guard let bytes = Base64.decode(text) else {
            throw JSONFault(
                "'\(name)' is not Base64, expected the standard alphabet with padding and without line breaks")
        }
        guard permittedLength.contains(bytes.count) else {
            throw JSONFault(
                "'\(name)' has \(bytes.count.counted("byte")), "
                    + "expected \(permittedLength.lowerBound) to \(permittedLength.upperBound)")
        }
        return [UInt8](bytes)
    }
}

extension ApplePayToken.Version {
    /// Reads the name of a version.
    ///
    /// - Throws: `unsupportedVersion` for any other name.
    init(name: String, of messageName: String) throws(PaymentTokenError) {
        guard let version = Self(rawValue: name) else {
            throw PaymentTokenError(
                .unsupportedVersion,
                "the \(messageName) has version '\(name.prefix(32))', but only EC_v1 and RSA_v1 are supported")
        }
        self = version
    }
}

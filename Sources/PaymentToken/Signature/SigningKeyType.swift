/// The types of keys that sign payment tokens.
enum SigningKeyType: String, Sendable, CustomStringConvertible {
    case ec, rsa

    var description: String {
        switch self {
        case .ec: "elliptic-curve key"
        case .rsa: "RSA key"
        }
    }
}

extension ApplePayToken.Version {
    /// The type of the key that signs tokens of this version.
    var signingKeyType: SigningKeyType {
        switch self {
        case .ecV1: .ec
        case .rsaV1: .rsa
        }
    }

    /// The object identifiers of the permitted signature algorithms. Apple uses the first algorithm.
    ///
    /// `rsaEncryption` together with the digest algorithm SHA-256 means the same as `sha256WithRSAEncryption` (RFC 3370
    /// section 3.2).
    var signatureAlgorithms: [[UInt8]] {
        switch self {
        case .ecV1: [OID.ecdsaWithSHA256]
        case .rsaV1: [OID.sha256WithRSA, OID.rsaEncryption]
        }
    }
}

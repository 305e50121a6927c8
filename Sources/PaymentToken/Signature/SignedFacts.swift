/// What remains to be judged once the signature itself is: whose it is and when it was made.
struct SignedFacts {
    let signingTime: ASN1Time
    let leafCommonNames: [String]
}

/// The words of checks that passed: the same whichever way the token was examined.
enum Finding {
    static let structure = "one detached CMS message by one signer, SHA-256, its signed attributes complete"
    static let messageDigest = "the digest signed is that of this token's content"
    static let signature = "made by the signing certificate's key over the signed attributes"
    static let markers = "signing certificate and intermediate carry Apple's marker extensions"
    static let certificateChain = "signing certificate, intermediate and trusted root, valid at the signing time"
}

extension ApplePayToken.Version {
    /// The kind of key that signs tokens of this version.
    var signingKeyKind: SigningKeyKind {
        switch self {
        case .ecV1: .ec
        case .rsaV1: .rsa
        }
    }

    /// Apple's own first. RSA's plain name says the same beside a digest algorithm of SHA-256 (RFC 3370 section 3.2).
    var signatureAlgorithms: [[UInt8]] {
        switch self {
        case .ecV1: [OID.ecdsaWithSHA256]
        case .rsaV1: [OID.sha256WithRSA, OID.rsaEncryption]
        }
    }
}

/// The kinds of key that sign payment tokens.
enum SigningKeyKind: String, Sendable, CustomStringConvertible {
    case ec, rsa

    var description: String {
        switch self {
        case .ec: "an elliptic-curve key"
        case .rsa: "an RSA key"
        }
    }
}

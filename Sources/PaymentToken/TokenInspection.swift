public import FoundationEssentials

/// The contents of a payment token that can be read without a key. They are not verified.
public struct TokenInspection: Sendable, Hashable {
    /// The version of the token.
    public let version: ApplePayToken.Version
    /// The SHA-256 hash of the merchant public key to which the token is encrypted, in Base64.
    public let publicKeyHash: String
    /// The identifier of the payment: 64 lower-case hexadecimal digits.
    public let transactionId: String
    /// The SHA-256 hash of the payment request's applicationData, in hexadecimal; nil if the token has none.
    public let applicationDataHash: String?
    /// The length of ephemeralPublicKey or wrappedKey in bytes.
    public let keyMaterialLength: Int
    /// The length of the ciphertext in bytes, without the GCM tag.
    public let ciphertextLength: Int
    /// The length of the signature in bytes.
    public let signatureLength: Int
    /// The signing time in the signature; nil if it cannot be read, or if the signature does not have exactly one
    /// signer.
    public let signingTime: Date?
    /// The environment of the signing certificate; nil if the signature does not contain exactly one signing
    /// certificate.
    public let environment: TokenEnvironment?
    /// The certificates in the signature, in the order of the signature; empty if the signature cannot be read.
    public let certificates: [Certificate]

    /// A certificate in the signature.
    public struct Certificate: Sendable, Hashable {
        /// Whether the signature identifies this certificate as the signing certificate.
        public let isSigner: Bool
        /// The common name of the subject; empty if there is none.
        public let subject: String
        /// The common name of the issuer; empty if there is none.
        public let issuer: String
        /// The serial number in hexadecimal.
        public let serialNumber: String
        /// The start of the validity period; nil if it cannot be read.
        public let notBefore: Date?
        /// The end of the validity period; nil if it cannot be read.
        public let notAfter: Date?
        /// The object identifiers of all extensions, as dotted numbers.
        public let extensionOIDs: [String]
        /// The SHA-256 hash of the DER encoding, in hexadecimal.
        public let sha256Fingerprint: String
    }
}

public import FoundationEssentials

/// Everything that can be read in a payment token without a key. Nothing of it is verified.
public struct TokenInspection: Sendable, Hashable {
    /// `EC_v1` or `RSA_v1`.
    public let version: ApplePayToken.Version
    /// Which merchant key the token is encrypted to, Base64.
    public let publicKeyHash: String
    /// Names the payment, 64 lower-case hexadecimal digits.
    public let transactionId: String
    /// SHA-256 of the request's applicationData, hexadecimal, where the token has one.
    public let applicationDataHash: String?
    /// Bytes of ephemeralPublicKey or wrappedKey.
    public let keyMaterialLength: Int
    /// Bytes of ciphertext, without the tag.
    public let ciphertextLength: Int
    /// Bytes of signature.
    public let signatureLength: Int
    /// When the token says it was signed; nil where the signature does not read or is not one signer's.
    public let signingTime: Date?
    /// Of which of Apple's two worlds the signing certificate says it is; nil where there is no one signing certificate.
    public let environment: TokenEnvironment?
    /// The certificates that the signature carries, in its order; empty where it does not read.
    public let certificates: [Certificate]

    /// One certificate, as it describes itself.
    public struct Certificate: Sendable, Hashable {
        /// Whether the signature names it as its signer's.
        public let isSigner: Bool
        /// Whose it is: common name, else empty.
        public let subject: String
        /// Who issued it: common name, else empty.
        public let issuer: String
        /// Hexadecimal.
        public let serialNumber: String
        /// When it began; nil for a time that cannot be read.
        public let notBefore: Date?
        /// When it ends; nil for a time that cannot be read.
        public let notAfter: Date?
        /// The object identifiers of all its extensions, dotted, Apple's markers among them.
        public let extensionOIDs: [String]
        /// SHA-256 of its DER, hexadecimal.
        public let sha256Fingerprint: String
    }
}

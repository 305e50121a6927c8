import Vocabulary
package import WireAPI

/// A key pair that a decryptor may use.
public struct ResolvedKey: Hashable, Sendable {
    /// Base64, as tokens carry it.
    public let publicKeyHash: String
    /// The merchant that the key belongs to.
    public let merchantIdentifier: String
    /// SHA-256 over the merchant identifier, 64 lower-case hexadecimal digits.
    public let merchantIdentifierHash: String
    /// `EC_v1` or `RSA_v1`.
    public let algorithm: String
    /// `standby`, `current` or `retiring`.
    public let state: String
    /// PEM.
    public let certificate: String
    /// Of the certificate, RFC 3339 UTC.
    public let notBefore: String
    /// Of the certificate, RFC 3339 UTC.
    public let notAfter: String

    package init(_ document: ResolvedKeyDocument) {
        publicKeyHash = document.publicKeyHash.base64
        merchantIdentifier = document.merchantIdentifier.rawValue
        merchantIdentifierHash = document.merchantIdentifierHash.hex
        algorithm = document.algorithm.rawValue
        state = document.state.rawValue
        certificate = document.certificate
        notBefore = document.notBefore.rfc3339
        notAfter = document.notAfter.rfc3339
    }
}

package import WireAPI

/// A key pair that a decryptor may use.
public struct ResolvedKey: Hashable, Sendable {
    /// Base64, as tokens carry it.
    public let publicKeyHash: String
    /// Whose key it is.
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
        publicKeyHash = document.publicKeyHash
        merchantIdentifier = document.merchantIdentifier
        merchantIdentifierHash = document.merchantIdentifierHash
        algorithm = document.algorithm
        state = document.state
        certificate = document.certificate
        notBefore = document.notBefore
        notAfter = document.notAfter
    }
}

import Vocabulary
package import WireAPI

/// The public properties of a key pair that decrypts payment tokens. The private key stays in the daemon.
public struct ResolvedKey: Hashable, Sendable {
    /// The hash of the public key, in Base64, as in the header of a token.
    public let publicKeyHash: String
    /// The merchant that the key belongs to.
    public let merchantIdentifier: String
    /// SHA-256 over the merchant identifier, 64 lower-case hexadecimal digits.
    public let merchantIdentifierHash: String
    /// The algorithm of the key pair: `EC_v1` or `RSA_v1`.
    public let algorithm: String
    /// The state of the key pair: `standby`, `current` or `retiring`.
    public let state: String
    /// The certificate of the key pair, as PEM.
    public let certificate: String
    /// When the certificate becomes valid: RFC 3339, UTC.
    public let notBefore: String
    /// When the certificate expires: RFC 3339, UTC.
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

/// An error of this library: a code that programs can compare, and a human-readable detail.
///
/// The detail never contains a key, plaintext or account number.
public struct PaymentTokenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Sendable, CaseIterable {
        /// The input is not a payment token.
        case malformed
        /// The version of the payment token is neither EC_v1 nor RSA_v1.
        case unsupportedVersion
        /// The symmetric key has the wrong length for the version of the token.
        case wrongKey
        /// The token cannot be decrypted: the key belongs to another key pair or merchant, or the token was modified.
        case decryptionFailed
        /// The token was decrypted, but its plaintext is not valid payment data.
        case plaintextMalformed
        /// A check of the signature failed.
        case verificationFailed
        /// A trust root is not a certificate of a self-signed certificate authority.
        case invalidTrustRoot
    }

    /// The code, which programs can compare.
    public let code: Code
    /// The human-readable detail. It begins in lower case and has no full stop.
    public let detail: String

    /// Creates an error from a code and a detail.
    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The code and the detail.
    public var description: String { "\(code.rawValue): \(detail)" }
}

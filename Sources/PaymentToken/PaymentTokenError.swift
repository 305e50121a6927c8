/// An error of this library: a code that programs can compare, and a human-readable detail.
///
/// The detail never contains a key, plaintext or account number.
public struct PaymentTokenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Sendable, CaseIterable {
        /// The input is not valid or is too long. The input can be a payment token, encrypted token metadata, a part of
        /// these, a merchant identifier, a merchant token identifier, a public key or a usage information package.
        case malformed
        /// The version of the payment token or token metadata is neither EC_v1 nor RSA_v1.
        case unsupportedVersion
        /// The symmetric key has the wrong length for the version of the payment token or token metadata.
        case wrongKeyLength
        /// The payment token or token metadata cannot be decrypted: the symmetric key was computed with the wrong
        /// private key or merchant identifier, or the message was modified.
        case decryptionFailed
        /// The payment token or token metadata was decrypted, but its plaintext is not valid.
        case plaintextMalformed
        /// A check of the signature failed.
        case verificationFailed
        /// A ``TrustRoot`` cannot be created, because the input is not a root certificate. A root certificate belongs
        /// to a certificate authority, and its subject and issuer are equal.
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

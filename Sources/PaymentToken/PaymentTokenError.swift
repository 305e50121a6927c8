/// Why a payment token was refused: a code to branch on, and a sentence to act on.
///
/// The sentence says what was found and what was expected. It never quotes a key, a plaintext or an account number.
public struct PaymentTokenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of refusal it is.
    public enum Code: String, Sendable, CaseIterable {
        /// The bytes are not a payment token.
        case malformed
        /// A payment token of a version other than EC_v1 and RSA_v1.
        case unsupportedVersion
        /// The symmetric key has a length that the token's version never has.
        case wrongKey
        /// The symmetric key does not open the token: another key, another merchant, or changed bytes.
        case decryptionFailed
        /// The token opened, but what it holds does not read as payment data.
        case plaintextMalformed
        /// A check of the signature or of the transaction did not pass.
        case verificationFailed
        /// A certificate that was to be trusted does not read as one.
        case invalidTrustRoot
    }

    /// What callers branch on.
    public let code: Code
    /// What a person reads: lower case, no full stop.
    public let detail: String

    /// An error with its sentence.
    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The code and the sentence.
    public var description: String { "\(code.rawValue): \(detail)" }
}

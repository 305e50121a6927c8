import FoundationEssentials
package import Vocabulary
package import WireAPI

/// A decrypted payment token. It contains an account number: keep it only as long as needed, and never log it.
public struct DecryptedToken: Sendable {
    /// One check of the token, such as the check of its signing time, and the outcome.
    public struct Check: Hashable, Sendable {
        /// The check's name.
        public let name: String
        /// `passed`, `failed` or `notChecked`.
        public let outcome: String
        /// A human-readable explanation of the outcome.
        public let finding: String
    }

    /// The decrypted payment data: JSON text, exactly as Apple encrypted it.
    public let plaintext: [UInt8]
    /// Whether the daemon verified the token's signature, and every check of the signature passed. The comparisons with
    /// the ``PaymentExpectation`` do not count.
    public let isVerified: Bool
    /// All checks: first those of the signature, then the comparisons with the ``PaymentExpectation``, and last whether
    /// the token was claimed.
    public let checks: [Check]
    /// The hash of the public key that the token was encrypted to, in Base64.
    public let publicKeyHash: String
    /// The merchant that the key belongs to.
    public let merchantIdentifier: String

    init(_ document: DecryptedTokenDocument) throws(ClientError) {
        plaintext = try document.plaintextBytes()
        isVerified = document.verification?.verified ?? false
        checks = (document.verification?.checks ?? []).map {
            Check(name: $0.check, outcome: $0.outcome, finding: $0.finding)
        }
        publicKeyHash = document.publicKeyHash.base64
        merchantIdentifier = document.merchantIdentifier.rawValue
    }
}

/// The fields of the response of `POST /v1/payment-tokens/decrypt` that the client reads. The response also has the
/// payment's own fields. The client ignores them, because `plaintext` contains them.
package struct DecryptedTokenDocument: Decodable, Sendable {
    /// The decrypted JSON text, in Base64.
    package let plaintext: String
    /// The checks of the token and their outcomes.
    package let verification: VerificationDocument?
    package let publicKeyHash: PublicKeyHash
    package let merchantIdentifier: MerchantIdentifier
    /// Present if the request asked for the fields of an authorization message and the payment has them.
    package let authorization: AuthorizationDocument?

    package func plaintextBytes() throws(ClientError) -> [UInt8] {
        guard let bytes = Data(base64Encoded: plaintext) else {
            throw .protocolViolation("the plaintext is not Base64")
        }
        return Array(bytes)
    }
}

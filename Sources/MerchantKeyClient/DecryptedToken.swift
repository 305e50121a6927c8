import FoundationEssentials
package import WireAPI

/// A decrypted payment token. Holds an account number: keep it short, log none of it.
public struct DecryptedToken: Sendable {
    /// One check and what it found.
    public struct Check: Hashable, Sendable {
        /// The check's name.
        public let name: String
        /// `passed`, `failed` or `notChecked`.
        public let outcome: String
        /// In words.
        public let finding: String
    }

    /// The decrypted JSON text, byte for byte.
    public let plaintext: [UInt8]
    /// Whether every check that was made passed, the signature's among them.
    public let isVerified: Bool
    /// Every check, in the order of Apple's steps.
    public let checks: [Check]
    /// Which key the token was encrypted to, Base64.
    public let publicKeyHash: String
    /// Whose key that is.
    public let merchantIdentifier: String

    init(_ document: DecryptedTokenDocument) throws(ClientError) {
        plaintext = try document.plaintextBytes()
        isVerified = document.verification?.verified ?? false
        checks = (document.verification?.checks ?? []).map {
            Check(name: $0.check, outcome: $0.outcome, finding: $0.finding)
        }
        publicKeyHash = document.publicKeyHash
        merchantIdentifier = document.merchantIdentifier
    }
}

/// The answer of `POST /v1/payment-tokens/decrypt`, but for the decrypted fields, which stay JSON.
package struct DecryptedTokenDocument: Decodable, Sendable {
    /// Base64.
    package let plaintext: String
    package let verification: VerificationDocument?
    package let publicKeyHash: String
    package let merchantIdentifier: String
    /// Where it was asked for, and the payment has such fields.
    package let authorization: AuthorizationDocument?

    package func plaintextBytes() throws(ClientError) -> [UInt8] {
        guard let bytes = Data(base64Encoded: plaintext) else {
            throw .protocolViolation("found a plaintext that is not Base64")
        }
        return Array(bytes)
    }
}

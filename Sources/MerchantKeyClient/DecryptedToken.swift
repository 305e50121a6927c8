import FoundationEssentials
package import Vocabulary
package import WireAPI

/// A decrypted payment token. It contains an account number: keep it only as long as needed, and never log it.
public struct DecryptedToken: Sendable {
    /// One check and its result.
    public struct Check: Hashable, Sendable {
        /// The check's name.
        public let name: String
        /// `passed`, `failed` or `notChecked`.
        public let outcome: String
        /// The reason, for people.
        public let finding: String
    }

    /// The decrypted JSON text, byte for byte.
    public let plaintext: [UInt8]
    /// Whether every check that was made passed, including that of the signature.
    public let isVerified: Bool
    /// Every check, in the order of Apple's steps.
    public let checks: [Check]
    /// The key that the token was encrypted to, Base64.
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

/// The response of `POST /v1/payment-tokens/decrypt`, without the decrypted fields, which stay JSON.
package struct DecryptedTokenDocument: Decodable, Sendable {
    /// Base64.
    package let plaintext: String
    package let verification: VerificationDocument?
    package let publicKeyHash: PublicKeyHash
    package let merchantIdentifier: MerchantIdentifier
    /// Present where the request asked for it and the payment has such fields.
    package let authorization: AuthorizationDocument?

    package func plaintextBytes() throws(ClientError) -> [UInt8] {
        guard let bytes = Data(base64Encoded: plaintext) else {
            throw .protocolViolation("the plaintext is not Base64")
        }
        return Array(bytes)
    }
}

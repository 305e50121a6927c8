package import Vocabulary

/// An Apple Pay payment token, parsed but not yet verified or decrypted.
///
/// Source: Apple, "Payment token format reference".
public struct ApplePayToken: Sendable {
    /// The version of the token, which determines its encryption scheme.
    public enum Version: String, Sendable, CaseIterable {
        /// P-256 key agreement and AES-256-GCM, used in every region except mainland China.
        case ecV1 = "EC_v1"
        /// RSA-OAEP key wrapping and AES-128-GCM, used in mainland China.
        case rsaV1 = "RSA_v1"
    }

    /// The header field from which the symmetric key is computed with the merchant's private key.
    public enum KeyMaterial: Sendable, Hashable {
        /// EC_v1: the sender's ephemeral public key for the key agreement.
        case ephemeralPublicKey(EphemeralPublicKey)
        /// RSA_v1: the symmetric key, encrypted to the merchant's RSA key.
        case wrappedKey(WrappedKey)

        /// The decoded bytes of the header field. They are the first part of the content that the signature covers.
        public var bytes: [UInt8] {
            switch self {
            case .ephemeralPublicKey(let key): key.derRepresentation
            case .wrappedKey(let key): key.bytes
            }
        }
    }

    /// The version of the token: EC_v1 if ``keyMaterial`` is an ephemeral public key, RSA_v1 if it is a wrapped key.
    public let version: Version
    /// The header field from which the symmetric key is computed with the merchant's private key.
    public let keyMaterial: KeyMaterial
    /// The unique identifier of the payment, used to detect replays.
    public let transactionId: TransactionId
    /// The SHA-256 hash of the merchant public key to which the token is encrypted.
    package let publicKeyHash: PublicKeyHash
    /// The SHA-256 hash of the payment request's `applicationData`, 32 bytes; nil if the request had none.
    public let applicationDataHash: [UInt8]?
    /// The ciphertext, followed by the 16 bytes of the GCM tag.
    public let data: [UInt8]
    /// The detached CMS signature, encoded as BER.
    public let signature: [UInt8]

    package init(
        keyMaterial: KeyMaterial, transactionId: TransactionId, publicKeyHash: PublicKeyHash,
        applicationDataHash: [UInt8]?, data: [UInt8], signature: [UInt8]
    ) {
        version = keyMaterial.version
        self.keyMaterial = keyMaterial
        self.transactionId = transactionId
        self.publicKeyHash = publicKeyHash
        self.applicationDataHash = applicationDataHash
        self.data = data
        self.signature = signature
    }

    /// The SHA-256 hash of the merchant public key (DER `SubjectPublicKeyInfo`) to which the token is encrypted: 44
    /// characters of Base64, as in the token.
    public var publicKeyHashBase64: String { publicKeyHash.base64 }
}

extension ApplePayToken: AppleMessage {
    package static var messageName: String { "token" }

    package var otherSignedParts: [SignedPart] {
        let transaction = SignedPart(name: "transactionId", bytes: transactionId.bytes)
        guard let applicationDataHash else { return [transaction] }
        return [transaction, SignedPart(name: "applicationData", bytes: applicationDataHash)]
    }
}

extension ApplePayToken: CustomStringConvertible {
    /// The version, transactionId and publicKeyHash of the token.
    public var description: String {
        "\(version.rawValue) payment token \(transactionId) for publicKeyHash \(publicKeyHash)"
    }
}

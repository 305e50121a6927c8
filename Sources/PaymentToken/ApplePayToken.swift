package import Vocabulary

/// One payment token as Apple Pay makes it, read but not yet trusted: nothing in it is verified or decrypted.
///
/// Source: Apple, "Payment token format reference".
public struct ApplePayToken: Sendable {
    /// How the token is encrypted.
    public enum Version: String, Sendable, CaseIterable {
        /// P-256 key agreement and AES-256-GCM; every region but mainland China.
        case ecV1 = "EC_v1"
        /// RSA-OAEP key wrapping and AES-128-GCM; mainland China.
        case rsaV1 = "RSA_v1"
    }

    /// What the sender attached to restore the symmetric key from.
    public enum KeyMaterial: Sendable, Hashable {
        /// EC_v1: the sender's half of the key agreement.
        case ephemeralPublicKey(EphemeralPublicKey)
        /// RSA_v1: the symmetric key, encrypted to the merchant's RSA key.
        case wrappedKey(WrappedKey)

        /// The decoded bytes, which are the first part of what the signature covers.
        public var bytes: [UInt8] {
            switch self {
            case .ephemeralPublicKey(let key): key.derRepresentation
            case .wrappedKey(let key): key.bytes
            }
        }
    }

    /// How the token is encrypted; fits ``keyMaterial`` always.
    public let version: Version
    /// What the symmetric key is restored from.
    public let keyMaterial: KeyMaterial
    /// Names the payment: unique, and what a replay is recognised by.
    public let transactionId: TransactionId
    /// Which merchant key the token is encrypted to.
    package let publicKeyHash: PublicKeyHash
    /// SHA-256 of the `applicationData` of the payment request, 32 bytes; nil where the request had none.
    public let applicationDataHash: [UInt8]?
    /// Ciphertext, and in its last 16 bytes the GCM tag.
    public let data: [UInt8]
    /// Detached CMS signature, BER.
    public let signature: [UInt8]

    package init(
        keyMaterial: KeyMaterial, transactionId: TransactionId, publicKeyHash: PublicKeyHash,
        applicationDataHash: [UInt8]?, data: [UInt8], signature: [UInt8]
    ) {
        version =
            switch keyMaterial {
            case .ephemeralPublicKey: .ecV1
            case .wrappedKey: .rsaV1
            }
        self.keyMaterial = keyMaterial
        self.transactionId = transactionId
        self.publicKeyHash = publicKeyHash
        self.applicationDataHash = applicationDataHash
        self.data = data
        self.signature = signature
    }

    /// The version in the words of a key pair.
    package var algorithm: KeyAlgorithm {
        switch version {
        case .ecV1: .ecV1
        case .rsaV1: .rsaV1
        }
    }

    /// SHA-256 over the merchant certificate's SubjectPublicKeyInfo: 44 characters of Base64, as the token spells it.
    public var publicKeyHashBase64: String { publicKeyHash.base64 }

    /// What the signature covers: key material, data, transaction id and, where present, the applicationData hash,
    /// each as decoded bytes.
    package var signedContent: [UInt8] {
        keyMaterial.bytes + data + transactionId.bytes + (applicationDataHash ?? [])
    }
}

extension ApplePayToken: CustomStringConvertible {
    /// Names the token by what support staff see: version, publicKeyHash, transactionId.
    public var description: String {
        "\(version.rawValue) payment token \(transactionId) for publicKeyHash \(publicKeyHash)"
    }
}

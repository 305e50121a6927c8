package import Vocabulary

/// A message that Apple signs, and encrypts to a merchant's payment processing key: a payment token, or encrypted token
/// metadata. The same code parses, verifies and decrypts both.
package protocol AppleMessage: Sendable {
    /// The name of this kind of message in errors, such as `token`.
    static var messageName: String { get }

    var version: ApplePayToken.Version { get }
    var keyMaterial: ApplePayToken.KeyMaterial { get }
    var publicKeyHash: PublicKeyHash { get }
    /// The ciphertext, followed by the 16 bytes of the GCM tag.
    var data: [UInt8] { get }
    /// The detached CMS signature, encoded as BER.
    var signature: [UInt8] { get }
    /// The parts that the signature covers after the key material and the data, in this order.
    var otherSignedParts: [SignedPart] { get }
}

/// A part of the content that a signature covers: the name of a field, and its decoded bytes.
package struct SignedPart: Sendable {
    let name: String
    let bytes: [UInt8]
}

extension AppleMessage {
    /// The algorithm of the merchant key pairs to which messages of this version are encrypted.
    package var algorithm: KeyAlgorithm {
        switch version {
        case .ecV1: .ecV1
        case .rsaV1: .rsaV1
        }
    }

    /// The bytes that the signature covers: the decoded key material, the data and the other signed parts,
    /// concatenated in this order.
    package var signedContent: [UInt8] { otherSignedParts.reduce(keyMaterial.bytes + data) { $0 + $1.bytes } }
}

extension ApplePayToken.KeyMaterial {
    /// The version of messages with this key material.
    var version: ApplePayToken.Version {
        switch self {
        case .ephemeralPublicKey: .ecV1
        case .wrappedKey: .rsaV1
        }
    }
}

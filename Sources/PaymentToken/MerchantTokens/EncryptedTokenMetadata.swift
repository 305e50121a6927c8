public import Crypto
package import Vocabulary

/// The account number (MPAN) and expiration date of a merchant token, signed by Apple and encrypted to a merchant's
/// payment processing key. Parsed, but not yet verified or decrypted.
///
/// Apple sends token metadata in events of merchant tokens. Token metadata is encrypted in the same way as a payment
/// token: find the merchant's key by ``publicKeyHashBase64``, restore the symmetric key from ``keyMaterial``, then call
/// ``decrypt(with:)``.
///
/// Verify and decrypt before you use token metadata. Apple signs payment tokens and token metadata in the same way:
/// the signature covers the fields one after the other, without their lengths and without the kind of the message. Only
/// payment tokens have a `transactionId` and `applicationData`. If an attacker appends these to the `data` of a payment
/// token, the payment token's signature is also valid for the result as token metadata. Conversely, if an attacker uses
/// the last 32 bytes of the `data` of token metadata as a `transactionId`, its signature is also valid for a payment
/// token. Neither can be decrypted: the GCM tag, which is the end of `data`, is wrong.
///
/// Source: Apple, "Apple Pay Merchant Token Management API", EncryptedTokenMetadata.
public struct EncryptedTokenMetadata: Sendable {
    /// The encryption scheme: EC_v1 if ``keyMaterial`` is an ephemeral public key, RSA_v1 if it is a wrapped key.
    public let version: ApplePayToken.Version
    /// The field from which the symmetric key is computed with the merchant's private key.
    public let keyMaterial: ApplePayToken.KeyMaterial
    /// The SHA-256 hash of the merchant public key to which the token metadata is encrypted.
    package let publicKeyHash: PublicKeyHash
    /// The ciphertext, followed by the 16 bytes of the GCM tag.
    public let data: [UInt8]
    /// The detached CMS signature, encoded as BER.
    public let signature: [UInt8]

    package init(
        keyMaterial: ApplePayToken.KeyMaterial, publicKeyHash: PublicKeyHash, data: [UInt8], signature: [UInt8]
    ) {
        version = keyMaterial.version
        self.keyMaterial = keyMaterial
        self.publicKeyHash = publicKeyHash
        self.data = data
        self.signature = signature
    }

    /// The SHA-256 hash of the merchant public key (DER `SubjectPublicKeyInfo`) to which the token metadata is
    /// encrypted: 44 characters of Base64.
    public var publicKeyHashBase64: String { publicKeyHash.base64 }

    /// Decrypts the token metadata, checks its GCM tag, and parses it. This method does not verify the signature.
    ///
    /// - Parameter key: the symmetric key, 32 bytes for EC_v1 and 16 bytes for RSA_v1.
    /// - Throws: ``PaymentTokenError`` with code `wrongKeyLength` if the key has another length, `decryptionFailed` if
    ///   decryption fails, and `plaintextMalformed` if the plaintext is not valid. The detail never contains a value.
    public func decrypt(with key: SymmetricKey) throws(PaymentTokenError) -> DecryptedTokenMetadata {
        try DecryptedTokenMetadata(plaintext: try plaintext(decryptedWith: key))
    }
}

extension EncryptedTokenMetadata: AppleMessage {
    package static var messageName: String { "token metadata" }

    package var otherSignedParts: [SignedPart] { [] }
}

extension EncryptedTokenMetadata: CustomStringConvertible {
    /// The version and publicKeyHash.
    public var description: String { "\(version.rawValue) token metadata for publicKeyHash \(publicKeyHash)" }
}

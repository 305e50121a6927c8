import FoundationEssentials
package import Vocabulary

/// The new account number of a merchant token, as Apple encrypts it for the merchant.
///
/// Source: Apple, Apple Pay Merchant Token Management API, "EncryptedTokenMetadata" and "TokenMetadata".
package struct TokenMetadata: Sendable {
    /// As YYMMDD.
    package var expirationDate = "311231"
    /// A card number that is reserved for tests.
    package var mpan = "4111111111111111"
    /// Nil leaves the identifier out, as Apple does if it has not changed.
    package var mpanIdentifier: String?

    package init() {}

    /// The text that is encrypted.
    package var plaintext: String {
        var object = JSONObjectWriter()
        object.string("expirationDate", expirationDate)
        object.string("mpan", mpan)
        if let mpanIdentifier { object.string("mpanId", mpanIdentifier) }
        return object.text
    }
}

extension SandboxAuthority {
    /// Encrypts token metadata to a certificate and signs it.
    ///
    /// The metadata is encrypted in the same way as a payment token. The signature covers only the key material and the
    /// data, because there is no transaction and no application data.
    ///
    /// - Parameters:
    ///   - certificate: a payment processing certificate, PEM or DER.
    ///   - hasValidSignature: whether the signature is valid. If false, the signature covers other bytes.
    /// - Returns: the JSON object with `data`, `publicKeyHash`, `signature`, and `ephemeralPublicKey` or `wrappedKey`.
    package func encryptedTokenMetadata(
        _ metadata: TokenMetadata, certificate: [UInt8], signingTime: Timestamp, hasValidSignature: Bool = true
    ) throws -> String {
        let certificate = try ProcessingCertificate(certificate)
        let encryption = try TokenEncryption(
            Array(metadata.plaintext.utf8), to: certificate, secretBeginsWithZero: false)
        let signedContent = encryption.keyMaterial + encryption.data
        let signature = try signature(
            over: hasValidSignature ? signedContent : signedContent.reversed(), algorithm: certificate.algorithm,
            signingTime: signingTime)
        var object = JSONObjectWriter()
        object.string("data", Data(encryption.data).base64EncodedString())
        let keyField = certificate.algorithm == .ecV1 ? "ephemeralPublicKey" : "wrappedKey"
        object.string(keyField, Data(encryption.keyMaterial).base64EncodedString())
        object.string("publicKeyHash", certificate.publicKeyHash.base64)
        object.string("signature", Data(signature).base64EncodedString())
        return object.text
    }
}

import Crypto
import FoundationEssentials
package import Vocabulary

/// A payment token that the sandbox minted, with its plaintext.
package struct MintedToken: Sendable {
    /// The whole token: the JSON object that an app or a web page receives.
    package let json: String
    /// The member `paymentData` of the token as JSON. Many apps and web pages send only this member to their server.
    package let paymentData: String
    /// The exact text that was encrypted.
    package let plaintext: String
    /// The identifier of the payment: 64 lower-case hexadecimal digits.
    package let transactionIdentifier: String
    package let publicKeyHash: PublicKeyHash
}

/// An encrypted token that is not signed yet.
struct UnsignedToken {
    let algorithm: KeyAlgorithm
    let publicKeyHash: PublicKeyHash
    let encryption: TokenEncryption
    let transactionIdentifier: [UInt8]
    let applicationDataHash: [UInt8]?

    /// The bytes that the signature covers: the decoded fields, not their Base64 and hexadecimal text.
    var signedContent: [UInt8] {
        encryption.keyMaterial + encryption.data + transactionIdentifier + (applicationDataHash ?? [])
    }

    /// Returns the member `paymentData` of the token as JSON.
    func paymentData(signature: [UInt8]) -> String {
        var header = JSONObjectWriter()
        header.string("publicKeyHash", publicKeyHash.base64)
        let keyField = algorithm == .ecV1 ? "ephemeralPublicKey" : "wrappedKey"
        header.string(keyField, Data(encryption.keyMaterial).base64EncodedString())
        header.string("transactionId", Hex.encode(transactionIdentifier))
        if let applicationDataHash { header.string("applicationData", Hex.encode(applicationDataHash)) }
        var object = JSONObjectWriter()
        object.string("data", Data(encryption.data).base64EncodedString())
        object.string("signature", Data(signature).base64EncodedString())
        object.literal("header", header.text)
        object.string("version", algorithm.rawValue)
        return object.text
    }

    /// Returns the whole token as JSON. As in real tokens, the outer `transactionIdentifier` is in upper case and
    /// `transactionId` in the header is in lower case.
    func token(paymentData: String) -> String {
        var method = JSONObjectWriter()
        method.string("displayName", "Visa 1111")
        method.string("network", "Visa")
        method.string("type", "debit")
        var object = JSONObjectWriter()
        object.literal("paymentData", paymentData)
        object.literal("paymentMethod", method.text)
        object.string("transactionIdentifier", Hex.encode(transactionIdentifier).uppercased())
        return object.text
    }
}

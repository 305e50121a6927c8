import Crypto
import FoundationEssentials
package import Vocabulary

/// A payment token as the sandbox made it, with what only its maker knows.
package struct MintedToken: Sendable {
    /// The whole token, the JSON object that an app or a web page receives.
    package let json: String
    /// Its member `paymentData`, what most platforms pass on.
    package let paymentData: String
    /// The exact text that was encrypted.
    package let plaintext: String
    /// 64 lower-case hexadecimal digits.
    package let transactionIdentifier: String
    package let publicKeyHash: PublicKeyHash
}

/// The parts of a token between encryption and signature.
struct TokenEnvelope {
    let algorithm: KeyAlgorithm
    let publicKeyHash: PublicKeyHash
    let encryption: TokenEncryption
    let transactionIdentifier: [UInt8]
    let applicationDataHash: [UInt8]?

    /// What the signature covers: raw bytes, not the Base64 and hexadecimal text that the token carries.
    var signedContent: [UInt8] {
        encryption.keyMaterial + encryption.data + transactionIdentifier + (applicationDataHash ?? [])
    }

    func paymentData(signature: [UInt8]) -> String {
        var header = JSONObjectText()
        header.string("publicKeyHash", publicKeyHash.base64)
        let keyField = algorithm == .ecV1 ? "ephemeralPublicKey" : "wrappedKey"
        header.string(keyField, Data(encryption.keyMaterial).base64EncodedString())
        header.string("transactionId", Hex.encode(transactionIdentifier))
        if let applicationDataHash { header.string("applicationData", Hex.encode(applicationDataHash)) }
        var object = JSONObjectText()
        object.string("data", Data(encryption.data).base64EncodedString())
        object.string("signature", Data(signature).base64EncodedString())
        object.literal("header", header.text)
        object.string("version", algorithm.rawValue)
        return object.text
    }

    /// `transactionIdentifier` outside is in upper case where the header's is in lower case, as with real tokens.
    func token(paymentData: String) -> String {
        var method = JSONObjectText()
        method.string("displayName", "Visa 1111")
        method.string("network", "Visa")
        method.string("type", "debit")
        var object = JSONObjectText()
        object.literal("paymentData", paymentData)
        object.literal("paymentMethod", method.text)
        object.string("transactionIdentifier", Hex.encode(transactionIdentifier).uppercased())
        return object.text
    }
}

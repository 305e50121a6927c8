import FoundationEssentials
import Vocabulary

/// The values that Wallet hands to an issuer's app, and that the app sends to the issuer's server: the certificates, a
/// nonce and its signature.
///
/// In an app, PassKit passes the values to
/// `addPaymentPassViewController(_:generateRequestWithCertificateChain:nonce:nonceSignature:completionHandler:)`.
struct WalletRequest {
    /// The leaf and the intermediate that issued it, in DER.
    let certificates: [[UInt8]]
    /// 4 bytes.
    let nonce: [UInt8]
    /// The device signs the nonce with its Secure Element. Only Apple can verify the signature, so the sandbox's
    /// signature is random. It has the length of a real one, and begins with the same byte.
    let nonceSignature: [UInt8]

    /// Creates a request with a new nonce.
    init(certificates: [[UInt8]]) {
        self.certificates = certificates
        nonce = randomBytes(4)
        nonceSignature = [0x40] + randomBytes(80)
    }

    /// The values as JSON, with the field names of a request to the daemon's issuer socket. The certificates are in
    /// Base64, the other values in hexadecimal.
    var json: String {
        var object = JSONObjectWriter()
        // Base64 needs no escapes in JSON.
        let encoded = certificates.map { "\"\(Data($0).base64EncodedString())\"" }
        object.literal("certificates", "[\(encoded.joined(separator: ","))]")
        object.string("nonce", Hex.encode(nonce))
        object.string("nonceSignature", Hex.encode(nonceSignature))
        return object.text
    }
}

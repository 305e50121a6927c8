public import Crypto
import FoundationEssentials
import Vocabulary

/// A usage information package of a merchant token, encrypted for the devices of the token's owner: what a device gets
/// from `GET {webServiceURL}/v1/merchantToken/{merchantTokenIdentifier}/usageInformation`.
///
/// The properties are the fields of Apple's response, with Apple's names. Encode the value as JSON.
///
/// The package is encrypted with HPKE (RFC 9180) in auth mode: DHKEM(P-384, HKDF-SHA384), HKDF-SHA384 and AES-256-GCM.
/// The device decrypts it with its private key, and authenticates the merchant by the merchant's public key. The
/// merchant's public key is sent to Apple with the notification that usage information is available.
///
/// Apple does not publish some details. This type assumes:
/// - ``data`` is the ciphertext of one HPKE message, including its tag of 16 bytes, in Base64;
/// - the message has no associated data (AAD);
/// - the digests of public keys are over their X9.63 representation;
/// - the limit of 4,000 counts the characters of ``data``, although Apple permits 5 MB of files in a package.
///
/// Source: Apple, "Apple Pay Merchant Token Management API", GetMerchantTokenUsageInformationPackageResponse.
public struct MerchantTokenUsageInformation: Sendable, Hashable, Encodable {
    /// The only cipher suite that Apple supports.
    public static let supportedCiphersuite = "HPKE_AUTH_P384_SHA384_AES_GCM_256"
    /// The greatest length of ``data`` in characters.
    static let longestData = 4_000
    /// The greatest length of a package in bytes: 2,984. With the tag of 16 bytes it becomes 3,000 bytes, which are
    /// 4,000 characters of Base64.
    public static let longestPackage = longestData / 4 * 3 - MessageEncryption.tagLength
    /// The length of a P-384 public key in X9.63 representation, uncompressed.
    static let publicKeyLength = 97

    /// The cipher suite: ``supportedCiphersuite``.
    public let ciphersuite: String
    /// The encrypted package in Base64.
    public let data: String
    /// The encapsulated key of HPKE: an ephemeral P-384 public key in X9.63 representation, in Base64.
    public let ephemeralPublicKey: String
    /// The SHA-256 digest of the `info` parameter of HPKE, in hexadecimal.
    public let infoHash: String
    /// The SHA-256 digest of the merchant's public key, in hexadecimal.
    public let merchantPublicKeyHash: String
    /// The SHA-256 digest of the merchant token's public key, in hexadecimal.
    public let merchantTokenPublicKeyHash: String

    /// Encrypts a usage information package.
    ///
    /// - Parameters:
    ///   - content: the bytes of the package, at most ``longestPackage``.
    ///   - merchantTokenIdentifier: the identifier of the merchant token, at most 64 characters.
    ///   - merchantTokenPublicKey: the merchant token's public key, as Apple's `publicKey` operation returns it: P-384,
    ///     X9.63 representation, 97 bytes.
    ///   - merchantPrivateKey: the private key that belongs to the merchant's public key. That public key was sent to
    ///     Apple's `notify` operation.
    /// - Throws: ``PaymentTokenError`` with code `malformed` if a parameter is not valid.
    public init(
        encrypting content: [UInt8], merchantTokenIdentifier: String, merchantTokenPublicKey: [UInt8],
        merchantPrivateKey: P384.KeyAgreement.PrivateKey
    ) throws(PaymentTokenError) {
        guard content.count <= Self.longestPackage else {
            throw PaymentTokenError(
                .malformed,
                "the usage information package has \(content.count.counted("byte")), expected at most "
                    + "\(Self.longestPackage): with more, 'data' would exceed \(Self.longestData) characters")
        }
        let info = try Self.info(merchantTokenIdentifier)
        let recipient = try Self.publicKey(merchantTokenPublicKey)
        do {
            var sender = try HPKE.Sender(
                recipientKey: recipient, ciphersuite: .P384_SHA384_AES_GCM_256, info: info,
                authenticatedBy: merchantPrivateKey)
            data = try sender.seal(content).base64EncodedString()
            ephemeralPublicKey = sender.encapsulatedKey.base64EncodedString()
        } catch {
            throw PaymentTokenError(
                .malformed, "the usage information package cannot be encrypted with 'merchantTokenPublicKey'")
        }
        ciphersuite = Self.supportedCiphersuite
        infoHash = Hex.encode(SHA256.hash(data: info))
        merchantPublicKeyHash = Hex.encode(SHA256.hash(data: merchantPrivateKey.publicKey.x963Representation))
        merchantTokenPublicKeyHash = Hex.encode(SHA256.hash(data: merchantTokenPublicKey))
    }

    /// The `info` parameter of HPKE, which binds the package to the merchant token: the UTF-8 bytes of
    /// `ApplePayMerchantTokenUsageInformation_1.0`, followed by the SHA-256 digest of the identifier.
    private static func info(_ merchantTokenIdentifier: String) throws(PaymentTokenError) -> Data {
        guard let identifier = MerchantTokenIdentifier(text: merchantTokenIdentifier) else {
            throw PaymentTokenError(
                .malformed,
                "the merchant token identifier \(MerchantTokenIdentifier.refusal(of: merchantTokenIdentifier))")
        }
        return Data("ApplePayMerchantTokenUsageInformation_1.0".utf8)
            + Data(SHA256.hash(data: Array(identifier.rawValue.utf8)))
    }

    private static func publicKey(_ bytes: [UInt8]) throws(PaymentTokenError) -> P384.KeyAgreement.PublicKey {
        // swift-crypto checks that the point satisfies the curve equation.
        guard bytes.count == publicKeyLength, let key = try? P384.KeyAgreement.PublicKey(x963Representation: bytes)
        else {
            throw PaymentTokenError(
                .malformed,
                "'merchantTokenPublicKey' (\(bytes.count.counted("byte"))) is not an uncompressed point on the curve "
                    + "P-384 in X9.63 representation, which has \(publicKeyLength) bytes")
        }
        return key
    }
}

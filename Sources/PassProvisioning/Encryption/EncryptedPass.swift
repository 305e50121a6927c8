public import FoundationEssentials

/// Encrypted card data and the ephemeral public key: two of the three values that the app assigns to PassKit's
/// `PKAddPaymentPassRequest`. The third value is the activation data.
public struct EncryptedPass: Sendable, Hashable {
    /// The ciphertext followed by the GCM tag of 16 bytes.
    public let encryptedPassData: Data
    /// The ephemeral public key as an uncompressed point: `04`, X and Y, 65 bytes.
    public let ephemeralPublicKey: Data

    /// Creates a value from card data that another program encrypted. The bytes are not checked.
    public init(encryptedPassData: Data, ephemeralPublicKey: Data) {
        self.encryptedPassData = encryptedPassData
        self.ephemeralPublicKey = ephemeralPublicKey
    }

    /// ``encryptedPassData`` in Base64. Do not encode it again: the app decodes it once.
    public var encryptedPassDataBase64: String { encryptedPassData.base64EncodedString() }
    /// ``ephemeralPublicKey`` in Base64. Do not encode it again: the app decodes it once.
    public var ephemeralPublicKeyBase64: String { ephemeralPublicKey.base64EncodedString() }
}

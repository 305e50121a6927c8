public import FoundationEssentials

/// Encrypted card data, with the values that the app passes to PassKit (`PKAddPaymentPassRequest`).
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

    /// ``encryptedPassData``, encoded in Base64 once.
    public var encryptedPassDataBase64: String { encryptedPassData.base64EncodedString() }
    /// ``ephemeralPublicKey``, encoded in Base64 once.
    public var ephemeralPublicKeyBase64: String { ephemeralPublicKey.base64EncodedString() }
}

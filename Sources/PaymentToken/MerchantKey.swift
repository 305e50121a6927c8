public import Crypto

/// A merchant's payment processing key: the merchant identifier, and a function that restores the symmetric keys of
/// tokens.
///
/// *Restore* is Apple's word for computing the symmetric key of a token with the merchant's private key. The value does
/// not contain the private key. The function uses the private key, for example by asking merchantkeyd.
public struct MerchantKey: Sendable {
    /// A function that restores the symmetric key of a token encrypted to this key: 32 bytes for EC_v1, 16 for RSA_v1.
    public typealias RestoreSymmetricKey = @Sendable (ApplePayToken) async throws -> SymmetricKey

    /// The identifier of the merchant who owns the key, as registered with Apple: `merchant.…`.
    public let merchantIdentifier: String
    /// Restores the symmetric key of a token encrypted to this key.
    public let restoreSymmetricKey: RestoreSymmetricKey

    /// Creates a key from the merchant identifier of its owner and a function that restores symmetric keys.
    public init(merchantIdentifier: String, restoreSymmetricKey: @escaping RestoreSymmetricKey) {
        self.merchantIdentifier = merchantIdentifier
        self.restoreSymmetricKey = restoreSymmetricKey
    }
}

public import Crypto

/// A merchant's key without the private key itself: the merchant identifier, and a function that restores the symmetric
/// keys of tokens with the private key.
///
/// The owner of the private key supplies the function.
public struct MerchantKey: Sendable {
    /// A function that restores the symmetric key of a token encrypted to this key: 32 bytes for EC_v1, 16 for RSA_v1.
    public typealias RestoreSymmetricKey = @Sendable (ApplePayToken) async throws -> SymmetricKey

    /// The identifier of the merchant who owns the key, as registered with Apple: `merchant.…`.
    public let merchantIdentifier: String
    /// Restores the symmetric key of a token encrypted to this key.
    public let restoreSymmetricKey: RestoreSymmetricKey

    /// Creates a key from its merchant identifier and a function that restores symmetric keys with it.
    public init(merchantIdentifier: String, restoreSymmetricKey: @escaping RestoreSymmetricKey) {
        self.merchantIdentifier = merchantIdentifier
        self.restoreSymmetricKey = restoreSymmetricKey
    }
}

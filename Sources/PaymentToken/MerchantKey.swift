public import Crypto

/// The merchant key that a token names, as its keeper hands it over: whose it is, and a way to restore symmetric keys with
/// it. The private key itself stays where it is.
public struct MerchantKey: Sendable {
    /// Restores the symmetric key of a token of this key: 32 bytes for EC_v1, 16 for RSA_v1.
    public typealias RestoreSymmetricKey = @Sendable (ApplePayToken) async throws -> SymmetricKey

    /// Whose key it is, as registered at Apple: `merchant.…`.
    public let merchantIdentifier: String
    /// Restores the symmetric key of a token of this key.
    public let restoreSymmetricKey: RestoreSymmetricKey

    /// A key by its owner and its one use.
    public init(merchantIdentifier: String, restoreSymmetricKey: @escaping RestoreSymmetricKey) {
        self.merchantIdentifier = merchantIdentifier
        self.restoreSymmetricKey = restoreSymmetricKey
    }
}

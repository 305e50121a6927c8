package import Vocabulary

/// Calls Apple's Merchant Token Management API. A call is repeated only if this is safe.
///
/// The parameter `owner` of each method says with whose identity certificate the daemon authenticates: the merchant's
/// or the platform's.
package protocol MerchantTokenGateway: Sendable {
    /// Fetches an event.
    ///
    /// - Throws: `notFound` or `refused` if Apple does not know the event.
    func event(
        _ event: MerchantTokenEventIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) -> MerchantTokenEvent
    /// Ends the use of a token. Repeatable: unlinking a token again changes nothing.
    func unlink(
        _ token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError)
    /// Sets the URL to which Apple sends the token's notifications.
    ///
    /// - Parameter url: at most 256 characters.
    func setNotificationURL(
        _ url: String, of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError)
    /// The public key with which usage information is encrypted for the token; nil if Apple has not generated it yet
    /// (status 202).
    func publicKey(
        of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError) -> MerchantTokenPublicKey?
    /// Notifies Apple that usage information of the token is ready.
    func notifyUsageInformation(
        of token: MerchantTokenIdentifier, of merchant: MerchantIdentifier, as owner: IdentityOwner
    ) async throws(GatewayError)
}

/// An event of a merchant token as Apple describes it: `MerchantTokenEventResponse`.
package struct MerchantTokenEvent: Sendable {
    /// At most 64 characters. Unknown types are kept.
    package let type: String
    package let merchantTokenIdentifier: MerchantTokenIdentifier
    /// At most 256 characters.
    package let reason: String
    package let card: MerchantTokenCard?
    /// The JSON of the encrypted token metadata (`data`, `publicKeyHash`, `signature`, and `ephemeralPublicKey` or
    /// `wrappedKey`); nil if the event has none. Only the payment processing key with this `publicKeyHash` can decrypt
    /// the metadata.
    package let encryptedMetadata: [UInt8]?

    package init(
        type: String, merchantTokenIdentifier: MerchantTokenIdentifier, reason: String, card: MerchantTokenCard?,
        encryptedMetadata: [UInt8]?
    ) {
        self.type = type
        self.merchantTokenIdentifier = merchantTokenIdentifier
        self.reason = reason
        self.card = card
        self.encryptedMetadata = encryptedMetadata
    }
}

/// Apple's public key of a merchant token.
package struct MerchantTokenPublicKey: Hashable, Sendable {
    /// P-384, X9.63: 97 bytes.
    package let x963: [UInt8]
    /// Apple's `supportedCiphersuite`, such as `HPKE_AUTH_P384_SHA384_AES_GCM_256`.
    package let ciphersuite: String

    package init(x963: [UInt8], ciphersuite: String) {
        self.x963 = x963
        self.ciphersuite = ciphersuite
    }
}

package import MerchantCore
package import PassProvisioning

/// The card data, encrypted for Apple, with what else the app needs.
package struct EncryptedCard: Sendable {
    package let pass: EncryptedPass
    /// The network's one-time password; nil if neither the request nor an activation hook gave it.
    package let activationData: [UInt8]?
    /// What may go wrong at Apple or at the network although the daemon accepted the request.
    package let warnings: [InputFinding]
}

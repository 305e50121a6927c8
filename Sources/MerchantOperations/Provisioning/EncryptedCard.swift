package import MerchantCore
package import PassProvisioning

/// The card data, encrypted for Apple, and the other values that the app needs.
package struct EncryptedCard: Sendable {
    package let pass: EncryptedPass
    /// The network's one-time password; nil if neither the request nor an activation hook gave it.
    package let activationData: [UInt8]?
    /// Problems that the accepted request may have at Apple or at the network.
    package let warnings: [InputFinding]
}

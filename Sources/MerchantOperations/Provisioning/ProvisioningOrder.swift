package import PassProvisioning

/// An issuer host's request to encrypt a card's data for Apple Wallet: the card's data, and what Apple gave the
/// issuer's app.
package struct ProvisioningOrder: Sendable {
    /// The certificates that Apple gave the app, DER in Base64.
    package let certificates: [String]
    /// The bytes that the app received, unchanged, in hexadecimal.
    package let nonce: String
    /// The bytes that the app received, unchanged, in hexadecimal.
    package let nonceSignature: String
    package let configuration: CardConfiguration
    package let network: ProvisioningNetwork
    /// A JSON object whose fields have the names that Apple specifies. The fields nonce, nonceSignature and version are
    /// missing. Contains the card number.
    package let card: [UInt8]
    /// The network's one-time password; nil if an activation hook gives it, or if the network needs none.
    package let activationData: [UInt8]?

    package init(
        certificates: [String], nonce: String, nonceSignature: String, configuration: CardConfiguration,
        network: ProvisioningNetwork, card: [UInt8], activationData: [UInt8]?
    ) {
        self.certificates = certificates
        self.nonce = nonce
        self.nonceSignature = nonceSignature
        self.configuration = configuration
        self.network = network
        self.card = card
        self.activationData = activationData
    }
}

package import PassProvisioning

/// What an issuer's host asks the daemon to encrypt: what Apple gave the app, and the card's data.
package struct ProvisioningOrder: Sendable {
    /// The certificates that Apple gave the app, DER in Base64.
    package let certificates: [String]
    /// Hexadecimal digits, as the app received the bytes.
    package let nonce: String
    /// Hexadecimal digits, as the app received the bytes.
    package let nonceSignature: String
    package let configuration: CardConfiguration
    package let network: ProvisioningNetwork
    /// A JSON object with Apple's keys, without nonce, nonceSignature and version. Contains the card number.
    package let card: [UInt8]
    /// The network's one-time password; nil if an activation hook must give it.
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

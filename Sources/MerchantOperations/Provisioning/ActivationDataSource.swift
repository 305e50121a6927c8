package import PassProvisioning

/// Gets a card's activation data: the network's cryptographic one-time password, with which the network activates the
/// card in Apple Wallet without another check of the cardholder.
package protocol ActivationDataSource: Sendable {
    /// - Returns: nil if the settings name no hook.
    /// - Throws: `activationFailed` if the hook reports a failure or its response cannot be used;
    ///   `activationUnavailable` if the hook cannot be run or reached, or does not respond in time. The error contains
    ///   no part of the hook's response, because this may contain card data.
    func activationData(for question: ActivationQuestion) async throws -> [UInt8]?
}

/// What an activation hook gets, to generate the activation data of a card.
package struct ActivationQuestion: Sendable {
    /// The identifier of the request, which the hook can log.
    package let requestId: String
    package let network: ProvisioningNetwork
    package let configuration: CardConfiguration
    /// The nonce in lower-case hexadecimal digits.
    package let nonce: String
    /// A JSON object whose fields have the names that Apple specifies, as in the request. Contains the card number.
    package let card: [UInt8]

    package init(
        requestId: String, network: ProvisioningNetwork, configuration: CardConfiguration, nonce: String, card: [UInt8]
    ) {
        self.requestId = requestId
        self.network = network
        self.configuration = configuration
        self.nonce = nonce
        self.card = card
    }
}

/// For settings without an activation hook.
package struct NoActivationHook: ActivationDataSource {
    package init() {}

    package func activationData(for question: ActivationQuestion) async -> [UInt8]? { nil }
}

/// The form of the card data. Apple numbers the three forms, and calls them payment data configurations.
public enum CardConfiguration: Int, CaseIterable, Sendable {
    /// Configuration 1: the card data contains the card number. Only the encryption for Apple protects the card number.
    case cardNumber = 1
    /// Configuration 2, for American Express and Discover only. The keys that distinguish it are not published, so this
    /// library checks only the keys that it knows, and reports `configurationNotValidated`.
    case networkSpecific = 2
    /// Configuration 3: the card data contains the card number encrypted for the card network.
    case encryptedCardNumber = 3

    /// Whether cards of a network can have this configuration.
    enum Availability: Sendable {
        /// Published for the network.
        case published
        /// Not published for the network, but possible: some issuers agree on it with the network.
        case unusual
        case unavailable
    }

    func availability(for network: ProvisioningNetwork) -> Availability {
        switch (self, network.company) {
        case (.cardNumber, .visa): .unusual
        case (.cardNumber, _): .published
        case (.networkSpecific, .americanExpress), (.networkSpecific, .discover): .published
        case (.networkSpecific, _): .unavailable
        case (.encryptedCardNumber, .visa): .published
        case (.encryptedCardNumber, _): .unusual
        }
    }
}

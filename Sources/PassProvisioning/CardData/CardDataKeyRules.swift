/// Which JSON members of the card data the caller must, may and must not set in a configuration.
///
/// Apple has published the members of configurations 1 (Mastercard, American Express, Discover) and 3 (Visa). This
/// library writes card data with `version` "1", in which both configurations have `productType`.
struct CardDataKeyRules: Sendable {
    let required: [CardDataKey]
    let optional: [CardDataKey]
    /// Whether the configuration has keys that are not published.
    let hasUnpublishedKeys: Bool

    /// - Parameter configuration: nil if it cannot be determined. Then the rules neither require nor forbid a key.
    init(_ configuration: CardConfiguration?) {
        switch configuration {
        case .cardNumber:
            required = [.expiration, .name, .primaryAccountNumber, .productType]
            optional = [.auxiliaryCards]
            hasUnpublishedKeys = false
        case .encryptedCardNumber:
            required = [
                .encryptedPrimaryAccountNumber, .name, .networkName, .primaryAccountNumberPrefix, .productType,
            ]
            optional = [.auxiliaryCards]
            hasUnpublishedKeys = false
        case .networkSpecific:
            required = []
            optional = CardDataKey.allCases.filter { !$0.isWrittenByLibrary }
            hasUnpublishedKeys = true
        case nil:
            required = []
            optional = CardDataKey.allCases.filter { !$0.isWrittenByLibrary }
            hasUnpublishedKeys = false
        }
    }

    /// The keys of other configurations.
    var forbidden: [CardDataKey] {
        CardDataKey.allCases.filter { !$0.isWrittenByLibrary && !required.contains($0) && !optional.contains($0) }
    }
}

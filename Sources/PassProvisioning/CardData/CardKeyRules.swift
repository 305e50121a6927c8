/// Which of the caller's keys a configuration requires, permits and forbids.
///
/// The published forms are those of configuration 1 (Mastercard, American Express, Discover) and of configuration 3
/// (Visa). Both are written with `version` "1", whose forms include `productType`.
struct CardKeyRules: Sendable {
    let required: [CardDataKey]
    let optional: [CardDataKey]
    /// Whether the configuration has keys that are not published.
    let hasUnpublishedKeys: Bool

    /// - Parameter configuration: nil if it cannot be determined. Then no key is required or forbidden.
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

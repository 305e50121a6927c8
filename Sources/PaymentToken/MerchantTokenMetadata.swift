/// What is known of the card behind a merchant token.
///
/// Source: Apple, "Apple Pay Merchant Token Management API", MerchantTokenMetadata.
public struct MerchantTokenMetadata: Sendable {
    /// Pictures of the card.
    public let cardArt: [CardArt]
    /// The card's description, where it was sent.
    public let cardMetadata: CardMetadata?
    /// Fields that this version does not know, in the order sent.
    public let unknownFields: [PaymentData.UnknownField]

    /// One picture of the card.
    public struct CardArt: Sendable {
        /// Its name.
        public let name: String?
        /// Its kind.
        public let type: String?
        /// Where it is.
        public let url: String?
    }

    /// The card in words.
    public struct CardMetadata: Sendable {
        /// Where it was issued, two letters.
        public let cardCountry: String?
        /// When it ends.
        public let expirationDate: String?
        /// The last digits of the number printed on the card.
        public let fpanSuffix: String?
        /// Its long name.
        public let longDescription: String?
        /// Its short name.
        public let shortDescription: String?
        /// Fields that this version does not know, in the order sent.
        public let unknownFields: [PaymentData.UnknownField]
    }
}

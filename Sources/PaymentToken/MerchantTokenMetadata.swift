/// Information about the card behind a merchant token (MPAN), the account number that Apple Pay gives one merchant for
/// recurring, deferred or automatic-reload payments.
///
/// Source: Apple, "Apple Pay Merchant Token Management API", MerchantTokenMetadata.
public struct MerchantTokenMetadata: Sendable {
    /// Images of the card.
    public let cardArt: [CardArt]
    /// The description of the card; nil if Apple sent none.
    public let cardMetadata: CardMetadata?
    /// Fields that this library does not know, in the order sent.
    public let unknownFields: [PaymentData.UnknownField]

    /// An image of the card.
    public struct CardArt: Sendable {
        /// The file name.
        public let name: String?
        /// The media type, such as `image/png`.
        public let type: String?
        /// The URL from which the image can be downloaded.
        public let url: String?
    }

    /// The description of the card.
    public struct CardMetadata: Sendable {
        /// The country in which the card was issued: two letters.
        public let cardCountry: String?
        /// The expiration date of the card, as Apple sent it.
        public let expirationDate: String?
        /// The last digits of the account number printed on the card (FPAN).
        public let fpanSuffix: String?
        /// The long name of the card.
        public let longDescription: String?
        /// The short name of the card.
        public let shortDescription: String?
        /// Fields that this library does not know, in the order sent.
        public let unknownFields: [PaymentData.UnknownField]
    }
}

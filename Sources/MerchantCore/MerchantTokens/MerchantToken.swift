package import Vocabulary

/// The last known state of a merchant token. It holds no account number.
package struct MerchantToken: Hashable, Sendable {
    package enum State: String, NamedValue {
        case linked
        /// The token can no longer be used for payments.
        case unlinked
    }

    package let identifier: MerchantTokenIdentifier
    /// The merchant whose identifier the daemon writes in the paths of its calls to Apple about this token.
    package let merchantIdentifier: MerchantIdentifier
    package var state: State
    package let firstSeenAt: Timestamp
    /// When the daemon last decrypted a payment token of this merchant token, or fetched an event of it.
    package var lastSeenAt: Timestamp
    package var lastEvent: LastEvent?
    package var card: MerchantTokenCard?
    /// The URL that the daemon last gave Apple for notifications; nil while the daemon has set none.
    package var notificationURL: String?

    package struct LastEvent: Hashable, Sendable {
        package let identifier: MerchantTokenEventIdentifier
        /// Apple's `eventType`, such as `UNLINK`.
        package let type: String
        package let reason: String
        /// When the notification arrived.
        package let receivedAt: Timestamp

        package init(identifier: MerchantTokenEventIdentifier, type: String, reason: String, receivedAt: Timestamp) {
            self.identifier = identifier
            self.type = type
            self.reason = reason
            self.receivedAt = receivedAt
        }
    }

    package init(
        identifier: MerchantTokenIdentifier, merchantIdentifier: MerchantIdentifier, state: State = .linked,
        firstSeenAt: Timestamp, lastSeenAt: Timestamp, lastEvent: LastEvent? = nil, card: MerchantTokenCard? = nil,
        notificationURL: String? = nil
    ) {
        self.identifier = identifier
        self.merchantIdentifier = merchantIdentifier
        self.state = state
        self.firstSeenAt = firstSeenAt
        self.lastSeenAt = lastSeenAt
        self.lastEvent = lastEvent
        self.card = card
        self.notificationURL = notificationURL
    }
}

/// What Apple says about the card behind a merchant token, without account numbers: Apple's `merchantTokenMetadata`.
package struct MerchantTokenCard: Hashable, Sendable, Codable {
    /// ISO 3166-1, at most 2 characters.
    package var cardCountry: String?
    /// As Apple sends it, at most 8 characters.
    package var expirationDate: String?
    /// The last digits of the card's own number, at most 4.
    package var fpanSuffix: String?
    package var longDescription: String?
    package var shortDescription: String?
    package var cardArt: [CardArt]

    /// An image of the card. The daemon never downloads it.
    package struct CardArt: Hashable, Sendable, Codable {
        package let name: String
        package let type: String
        package let url: String

        package init(name: String, type: String, url: String) {
            self.name = name
            self.type = type
            self.url = url
        }
    }

    package init(
        cardCountry: String? = nil, expirationDate: String? = nil, fpanSuffix: String? = nil,
        longDescription: String? = nil, shortDescription: String? = nil, cardArt: [CardArt] = []
    ) {
        self.cardCountry = cardCountry
        self.expirationDate = expirationDate
        self.fpanSuffix = fpanSuffix
        self.longDescription = longDescription
        self.shortDescription = shortDescription
        self.cardArt = cardArt
    }
}

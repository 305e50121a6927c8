package import Vocabulary

extension Paths {
    package static let merchantTokens = "/v1/merchant-tokens"

    /// An operation on one merchant token. The raw value is the last segment of the route's path.
    package enum MerchantTokenOperation: String, CaseIterable, Sendable {
        case unlink
        case notificationURL = "notification-url"
        case publicKey = "public-key"
        case notify
    }

    package static func merchantToken(_ identifier: MerchantTokenIdentifier) -> String {
        "\(merchantTokens)/\(PercentEncoding.encode(identifier.rawValue))"
    }

    package static func merchantToken(
        _ identifier: MerchantTokenIdentifier, _ operation: MerchantTokenOperation
    ) -> String {
        "\(merchantToken(identifier))/\(operation.rawValue)"
    }

    /// The path of the account number (MPAN) of a merchant token, on the decryptor socket.
    package static func mpan(of identifier: MerchantTokenIdentifier) -> String {
        "\(merchantToken(identifier))/mpan"
    }

    package static func tokenNotificationURLs(of merchant: MerchantIdentifier) -> String {
        "\(self.merchant(merchant))/token-notification-urls"
    }
}

/// The last known state of a merchant token, as `GET /v1/merchant-tokens/{merchantTokenIdentifier}` returns it. It
/// contains no account number.
package struct MerchantTokenDocument: Codable, Hashable, Sendable {
    /// The last event of the token that the daemon fetched from Apple.
    package struct LastEvent: Codable, Hashable, Sendable {
        package let eventIdentifier: MerchantTokenEventIdentifier
        /// Apple's `eventType`, such as `UNLINK`.
        package let eventType: String
        package let reason: String
        /// When the notification arrived.
        package let receivedAt: Timestamp

        package init(
            _ identifier: MerchantTokenEventIdentifier, type: String, reason: String, receivedAt: Timestamp
        ) {
            (eventIdentifier, eventType) = (identifier, type)
            (self.reason, self.receivedAt) = (reason, receivedAt)
        }
    }

    package let merchantTokenIdentifier: MerchantTokenIdentifier
    package let merchantIdentifier: MerchantIdentifier
    /// `linked` or `unlinked`.
    package let state: String
    package let firstSeenAt: Timestamp
    /// When the daemon last decrypted a payment of the merchant token, or fetched an event of it.
    package let lastSeenAt: Timestamp
    /// Absent if the daemon has fetched no event of the token.
    package var lastEvent: LastEvent?
    /// Absent if Apple has reported nothing about the card.
    package var card: MerchantTokenCardDocument?
    /// The URL for notifications that the daemon last gave Apple; absent if it has given Apple none.
    package var notificationUrl: String?

    package init(
        _ identifier: MerchantTokenIdentifier, of merchant: MerchantIdentifier, state: String, firstSeenAt: Timestamp,
        lastSeenAt: Timestamp
    ) {
        (merchantTokenIdentifier, merchantIdentifier, self.state) = (identifier, merchant, state)
        (self.firstSeenAt, self.lastSeenAt) = (firstSeenAt, lastSeenAt)
    }
}

/// What Apple reports about the card behind a merchant token: Apple's `merchantTokenMetadata`.
package struct MerchantTokenCardDocument: Codable, Hashable, Sendable {
    /// An image of the card. The daemon never downloads it.
    package struct CardArt: Codable, Hashable, Sendable {
        package let name: String
        package let type: String
        package let url: String

        package init(name: String, type: String, url: String) { (self.name, self.type, self.url) = (name, type, url) }
    }

    package var cardCountry: String?
    package var expirationDate: String?
    /// The last digits of the number on the card, at most 4.
    package var fpanSuffix: String?
    package var longDescription: String?
    package var shortDescription: String?
    /// Absent if Apple has reported no image.
    package var cardArt: [CardArt]?

    package init() {}
}

/// The body of `PUT /v1/merchant-tokens/{merchantTokenIdentifier}/notification-url`.
package struct SetTokenNotificationURLRequest: RequestBody {
    /// At most 256 characters.
    package let notificationUrl: String

    package init(_ url: String) { notificationUrl = url }
}

/// The public key that Apple generated for a merchant token. Usage information is encrypted with this key.
package struct MerchantTokenPublicKeyDocument: Codable, Hashable, Sendable {
    package let merchantTokenIdentifier: MerchantTokenIdentifier
    /// P-384, X9.63, in Base64.
    package let merchantTokenPublicKey: String
    /// Apple's name, such as `HPKE_AUTH_P384_SHA384_AES_GCM_256`.
    package let supportedCiphersuite: String

    package init(_ identifier: MerchantTokenIdentifier, publicKey: String, ciphersuite: String) {
        (merchantTokenIdentifier, merchantTokenPublicKey) = (identifier, publicKey)
        supportedCiphersuite = ciphersuite
    }
}

/// A URL at which the portal receives notifications for one merchant. Its last segment is a secret.
package struct TokenNotificationURLDocument: Codable, Hashable, Sendable {
    package let merchantIdentifier: MerchantIdentifier
    /// The value for Apple's `tokenNotificationURL`.
    package let url: String
    package let createdAt: Timestamp

    package init(_ url: String, for merchant: MerchantIdentifier, createdAt: Timestamp) {
        (self.url, merchantIdentifier, self.createdAt) = (url, merchant, createdAt)
    }
}

/// The account number of a merchant token, as the decryptor socket returns it. Only clients use this type. The daemon
/// writes the response without it, because the memory of a `String` cannot be wiped.
package struct MPANDocument: Decodable, Sendable {
    package let merchantTokenIdentifier: MerchantTokenIdentifier
    /// 8 to 19 digits.
    package let mpan: String
}

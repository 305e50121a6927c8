package import Vocabulary

/// What an event reports about a merchant token. Contains no account number.
package struct MerchantTokenReport: Hashable, Sendable, Codable {
    /// nil if the event could not be fetched.
    package let merchantTokenIdentifier: MerchantTokenIdentifier?
    package let eventIdentifier: MerchantTokenEventIdentifier
    /// Apple's `eventType`, such as `UNLINK`; nil if the event could not be fetched.
    package let eventType: String?
    package let reason: String?
    /// When the notification arrived.
    package let receivedAt: Timestamp
    package let card: MerchantTokenCard?
    /// Apple's identifier of the new account number (`mpanId`), from the event's encrypted metadata; nil if absent.
    package let mpanIdentifier: String?

    package init(
        merchantTokenIdentifier: MerchantTokenIdentifier?, eventIdentifier: MerchantTokenEventIdentifier,
        eventType: String?, reason: String?, receivedAt: Timestamp, card: MerchantTokenCard?, mpanIdentifier: String?
    ) {
        self.merchantTokenIdentifier = merchantTokenIdentifier
        self.eventIdentifier = eventIdentifier
        self.eventType = eventType
        self.reason = reason
        self.receivedAt = receivedAt
        self.card = card
        self.mpanIdentifier = mpanIdentifier
    }
}

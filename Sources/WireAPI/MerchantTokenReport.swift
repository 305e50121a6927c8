package import Vocabulary

/// What Apple reported about a merchant token, in an ``EventDocument``. It contains no account number.
package struct MerchantTokenReportDocument: Codable, Hashable, Sendable {
    /// Absent if the event could not be fetched from Apple.
    package var merchantTokenIdentifier: MerchantTokenIdentifier?
    /// Apple's identifier of the event.
    package let eventIdentifier: MerchantTokenEventIdentifier
    /// Apple's `eventType`, such as `UNLINK`; absent if the event could not be fetched.
    package var eventType: String?
    /// Absent if the event could not be fetched.
    package var reason: String?
    /// When the notification arrived.
    package let receivedAt: Timestamp
    /// Absent if the event says nothing about the card.
    package var card: MerchantTokenCardDocument?
    /// Apple's identifier of the new account number, `mpanId`; absent if the event names none.
    package var mpanIdentifier: String?

    package init(_ event: MerchantTokenEventIdentifier, receivedAt: Timestamp) {
        (eventIdentifier, self.receivedAt) = (event, receivedAt)
    }
}

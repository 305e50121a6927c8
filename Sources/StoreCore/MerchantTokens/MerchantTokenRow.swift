package import MerchantCore
import Vocabulary

/// Converts a merchant token to and from its row in `merchant_tokens`.
package enum MerchantTokenRow {
    /// The longest type and reason of an event that the schema accepts, in bytes of UTF-8. A longer text is truncated.
    /// Otherwise the whole event could not be stored.
    private static let longestText = 1024

    package static let columns = """
        identifier, merchant_identifier, first_seen_at, state, last_seen_at, event_id, event_type, event_reason,
        event_received_at, card, notification_url
        """

    package static func token(_ row: some StoredRow) throws -> MerchantToken {
        MerchantToken(
            identifier: try row.merchantTokenIdentifier("identifier"),
            merchantIdentifier: try row.merchantIdentifier(), state: try row.oneOf(MerchantToken.State.self, "state"),
            firstSeenAt: try row.timestamp("first_seen_at"), lastSeenAt: try row.timestamp("last_seen_at"),
            lastEvent: try row.textIfAny("event_id") == nil ? nil : try event(row),
            card: try row.jsonIfAny(MerchantTokenCard.self, "card"),
            notificationURL: try row.textIfAny("notification_url"))
    }

    private static func event(_ row: some StoredRow) throws -> MerchantToken.LastEvent {
        MerchantToken.LastEvent(
            identifier: try row.merchantTokenEventIdentifier(), type: try row.text("event_type"),
            reason: try row.text("event_reason"), receivedAt: try row.timestamp("event_received_at"))
    }

    /// The values of ``columns``.
    package static func values(_ token: MerchantToken) throws -> Arguments {
        [
            token.identifier.rawValue, token.merchantIdentifier.rawValue, token.firstSeenAt, token.state.rawValue,
            token.lastSeenAt, token.lastEvent?.identifier.rawValue,
            token.lastEvent?.type.truncated(toBytes: longestText),
            token.lastEvent?.reason.truncated(toBytes: longestText), token.lastEvent?.receivedAt,
            try token.card.map { try $0.text() }, token.notificationURL,
        ]
    }

    package static let paymentColumns = "identifier, merchant_identifier, first_seen_at, last_seen_at"

    /// The values of ``paymentColumns``.
    package static func values(_ payment: MerchantTokenPayment) -> Arguments {
        [
            payment.identifier.rawValue, payment.merchantIdentifier.rawValue, payment.times.first,
            payment.times.last,
        ]
    }
}

extension MerchantTokenCard {
    /// The card as JSON. Leaves out the images if the text would be longer than the schema accepts: otherwise neither
    /// the token nor the event that describes the card could be stored.
    fileprivate func text() throws -> String {
        let text = try JSONColumn.text(self)
        return text.utf8.count <= JSONColumn.longest ? text : try JSONColumn.text(withoutCardArt)
    }

    var withoutCardArt: MerchantTokenCard {
        var card = self
        card.cardArt = []
        return card
    }
}

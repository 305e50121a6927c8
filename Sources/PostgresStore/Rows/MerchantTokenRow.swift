import MerchantCore
import Vocabulary

/// Converts a merchant token to and from its row in `merchant_tokens`.
enum MerchantTokenRow {
    /// The longest type and reason of an event that the schema accepts, in bytes of UTF-8. A longer text is truncated.
    /// Otherwise the whole event could not be stored.
    private static let longestText = 1024

    static let columns = """
        identifier, merchant_identifier, first_seen_at, state, last_seen_at, event_id, event_type, event_reason,
        event_received_at, card, notification_url
        """

    static func token(_ row: Row) throws -> MerchantToken {
        MerchantToken(
            identifier: try row.merchantTokenIdentifier("identifier"),
            merchantIdentifier: try row.merchantIdentifier(), state: try row.oneOf(MerchantToken.State.self, "state"),
            firstSeenAt: try row.timestamp("first_seen_at"), lastSeenAt: try row.timestamp("last_seen_at"),
            lastEvent: try row.textIfAny("event_id") == nil ? nil : try event(row),
            card: try row.jsonIfAny(MerchantTokenCard.self, "card"),
            notificationURL: try row.textIfAny("notification_url"))
    }

    private static func event(_ row: Row) throws -> MerchantToken.LastEvent {
        MerchantToken.LastEvent(
            identifier: try row.merchantTokenEventIdentifier(), type: try row.text("event_type"),
            reason: try row.text("event_reason"), receivedAt: try row.timestamp("event_received_at"))
    }

    /// Inserts a token, or changes what is known of it. Never moves the time of its last use back.
    static let upsert = """
        INSERT INTO merchant_tokens (\(columns)) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
        ON CONFLICT (identifier) DO UPDATE SET state = excluded.state,
            last_seen_at = greatest(merchant_tokens.last_seen_at, excluded.last_seen_at), event_id = excluded.event_id,
            event_type = excluded.event_type, event_reason = excluded.event_reason,
            event_received_at = excluded.event_received_at, card = excluded.card,
            notification_url = excluded.notification_url
        """

    static func values(_ token: MerchantToken) throws -> Arguments {
        [
            token.identifier.rawValue, token.merchantIdentifier.rawValue, token.firstSeenAt.millisecondsSince1970,
            token.state.rawValue, token.lastSeenAt.millisecondsSince1970, token.lastEvent?.identifier.rawValue,
            token.lastEvent?.type.truncated(toBytes: longestText),
            token.lastEvent?.reason.truncated(toBytes: longestText),
            token.lastEvent?.receivedAt.millisecondsSince1970, try token.card.map { try $0.text() },
            token.notificationURL,
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

extension Row {
    func merchantTokenIdentifier(_ column: String) throws -> MerchantTokenIdentifier {
        try value(MerchantTokenIdentifier(text: try text(column)), of: column)
    }

    func merchantTokenEventIdentifier() throws -> MerchantTokenEventIdentifier {
        try value(MerchantTokenEventIdentifier(text: try text("event_id")), of: "event_id")
    }
}

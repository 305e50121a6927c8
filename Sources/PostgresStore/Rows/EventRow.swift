import MerchantCore
import Vocabulary

/// Converts an event to and from its row in `events`.
enum EventRow {
    /// The longest detail that the schema accepts, in bytes of UTF-8. A longer detail is truncated. Otherwise neither
    /// the event nor the change that it reports could be stored, because both are in one transaction.
    static let longestDetail = 4096

    static let columns = """
        sequence, events.id, kind, severity, occurred_at, merchant_identifier, public_key_hash, roll_id, merchant_token,
        detail
        """

    static func event(_ row: Row) throws -> StoredEvent {
        StoredEvent(
            sequence: try row.integer("sequence"), id: Hex.encode(try row.bytes("id")),
            event: Event(
                try row.oneOf(Event.Kind.self, "kind"), try row.oneOf(Event.Severity.self, "severity"),
                at: try row.timestamp("occurred_at"), merchant: try row.merchantIdentifierIfAny(),
                key: try row.publicKeyHashIfAny(), rollId: try row.textIfAny("roll_id"),
                merchantToken: try row.jsonIfAny(MerchantTokenReport.self, "merchant_token"),
                detail: try row.text("detail")))
    }

    static let insertion = """
        INSERT INTO events (kind, severity, occurred_at, merchant_identifier, public_key_hash, roll_id,
            merchant_token, detail)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        """

    static func values(_ event: Event) throws -> Arguments {
        [
            event.kind.rawValue, event.severity.rawValue, event.occurredAt.millisecondsSince1970,
            event.merchantIdentifier?.rawValue, event.publicKeyHash?.bytes, event.rollId,
            try event.merchantToken.map { try $0.text() }, event.detail.truncated(toBytes: longestDetail),
        ]
    }
}

extension MerchantTokenReport {
    /// The report as JSON. Leaves out the images of the card if the text would be longer than the schema accepts:
    /// otherwise the event could not be stored.
    fileprivate func text() throws -> String {
        let text = try JSONColumn.text(self)
        guard text.utf8.count > JSONColumn.longest else { return text }
        return try JSONColumn.text(
            MerchantTokenReport(
                merchantTokenIdentifier: merchantTokenIdentifier, eventIdentifier: eventIdentifier,
                eventType: eventType, reason: reason, receivedAt: receivedAt, card: card?.withoutCardArt,
                mpanIdentifier: mpanIdentifier))
    }
}

extension String {
    /// The text, truncated after the last character that fits into `maximum` bytes of UTF-8.
    func truncated(toBytes maximum: Int) -> String {
        guard utf8.count > maximum else { return self }
        var text = self[...]
        while text.utf8.count > maximum { text = text.dropLast() }
        return String(text)
    }
}

package import MerchantCore
import Vocabulary

/// Converts an event to and from its row in `events`.
package enum EventRow {
    /// The longest detail that the schema accepts, in bytes of UTF-8. A longer detail is truncated. Otherwise neither
    /// the event nor the change that it reports could be stored, because both are in one transaction.
    package static let longestDetail = 4096

    package static let columns = """
        sequence, events.id, kind, severity, occurred_at, merchant_identifier, public_key_hash, roll_id, merchant_token,
        detail
        """

    package static func event(_ row: some StoredRow) throws -> StoredEvent {
        StoredEvent(
            sequence: try row.integer("sequence"), id: Hex.encode(try row.bytes("id")),
            event: Event(
                try row.oneOf(Event.Kind.self, "kind"), try row.oneOf(Event.Severity.self, "severity"),
                at: try row.timestamp("occurred_at"), merchant: try row.merchantIdentifierIfAny(),
                key: try row.publicKeyHashIfAny(), rollId: try row.textIfAny("roll_id"),
                merchantToken: try row.jsonIfAny(MerchantTokenReport.self, "merchant_token"),
                detail: try row.text("detail")))
    }

    package static let insertedColumns =
        "kind, severity, occurred_at, merchant_identifier, public_key_hash, roll_id, merchant_token, detail"

    /// The values of ``insertedColumns``.
    package static func values(_ event: Event) throws -> Arguments {
        [
            event.kind.rawValue, event.severity.rawValue, event.occurredAt, event.merchantIdentifier?.rawValue,
            event.publicKeyHash?.bytes, event.rollId, try event.merchantToken.map { try $0.text() },
            event.detail.truncated(toBytes: longestDetail),
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

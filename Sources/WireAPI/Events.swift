package import Vocabulary

extension Paths {
    package static let events = "/v1/events"
    package static let redeliverEvents = "/v1/events/redeliver"
}

/// One event, as `GET /v1/events` lists it and as webhooks receive it.
package struct EventDocument: Codable, Hashable, Sendable {
    /// 32 random hexadecimal digits in lower case. A repeated delivery has the same id, so that a receiver can
    /// recognize it.
    package let id: String
    /// Increases from event to event, with gaps.
    package let sequence: Int
    package let kind: String
    /// `notice`, `warning` or `critical`.
    package let severity: String
    package let occurredAt: Timestamp
    package var merchantIdentifier: MerchantIdentifier?
    package var publicKeyHash: PublicKeyHash?
    package var rollId: String?
    /// One human-readable sentence.
    package let detail: String

    package init(
        _ id: String, sequence: Int, kind: String, severity: String, occurredAt: Timestamp, detail: String
    ) {
        (self.id, self.sequence, self.occurredAt) = (id, sequence, occurredAt)
        (self.kind, self.severity, self.detail) = (kind, severity, detail)
    }
}

/// `POST /v1/events/redeliver`: delivers parked events again. Without `sequence`, all of them; without `webhook`, those
/// of all webhooks.
package struct RedeliverEventsRequest: RequestBody {
    package var sequence: Int?
    /// A webhook's name.
    package var webhook: String?

    package init() {}
}

/// The response of `POST /v1/events/redeliver`.
package struct RedeliveredEventsDocument: Codable, Hashable, Sendable {
    /// The number of deliveries that are attempted again, at most 10,000 for each request.
    package let redelivered: Int

    package init(redelivered: Int) { self.redelivered = redelivered }
}

package import Vocabulary

extension Paths {
    package static let events = "/v1/events"
    package static let redeliverEvents = "/v1/events/redeliver"
}

/// One event, as `GET /v1/events` lists it and as webhooks receive it.
package struct EventDocument: Codable, Hashable, Sendable {
    /// 32 random hexadecimal digits in lower case. If the daemon delivers an event again, the id is the same, so that a
    /// receiver can recognize the event.
    package let id: String
    /// Each event has a larger sequence number than the event before it. There may be gaps.
    package let sequence: Int
    package let kind: String
    /// `notice`, `warning` or `critical`.
    package let severity: String
    package let occurredAt: Timestamp
    package var merchantIdentifier: MerchantIdentifier?
    package var publicKeyHash: PublicKeyHash?
    package var rollId: String?
    /// What Apple reported about a merchant token. Present only if the event's kind begins with `merchantToken`.
    package var merchantToken: MerchantTokenReportDocument?
    /// One human-readable sentence.
    package let detail: String

    package init(
        _ id: String, sequence: Int, kind: String, severity: String, occurredAt: Timestamp, detail: String
    ) {
        (self.id, self.sequence, self.occurredAt) = (id, sequence, occurredAt)
        (self.kind, self.severity, self.detail) = (kind, severity, detail)
    }
}

/// The body of `POST /v1/events/redeliver`, which delivers parked events again. An event is parked after its delivery
/// has failed for 24 hours.
package struct RedeliverEventsRequest: RequestBody {
    /// The sequence number of the event to deliver; if absent, all parked events.
    package var sequence: Int?
    /// The name of the webhook to deliver to; if absent, all webhooks.
    package var webhook: String?

    package init() {}
}

/// The response of `POST /v1/events/redeliver`.
package struct RedeliveredEventsDocument: Codable, Hashable, Sendable {
    /// The number of deliveries (one for each event and webhook) that the daemon attempts again, at most 10,000.
    package let redelivered: Int

    package init(redelivered: Int) { self.redelivered = redelivered }
}

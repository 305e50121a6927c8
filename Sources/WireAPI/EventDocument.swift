package import StrictJSON

/// One event, as `GET /v1/events` lists it and as webhooks get it.
package struct EventDocument: Codable, Hashable, Sendable {
    /// Random, 32 lower-case hexadecimal digits: what tells a repeated delivery from a new event.
    package let id: String
    /// Grows, with gaps.
    package let sequence: Int
    package let kind: String
    /// `notice`, `warning` or `critical`.
    package let severity: String
    package let occurredAt: String
    package let merchantIdentifier: String?
    package let publicKeyHash: String?
    package let rollId: String?
    /// One sentence for people.
    package let detail: String

    package init(
        id: String, sequence: Int, kind: String, severity: String, occurredAt: String, merchantIdentifier: String?,
        publicKeyHash: String?, rollId: String?, detail: String
    ) {
        self.id = id
        self.sequence = sequence
        self.kind = kind
        self.severity = severity
        self.occurredAt = occurredAt
        self.merchantIdentifier = merchantIdentifier
        self.publicKeyHash = publicKeyHash
        self.rollId = rollId
        self.detail = detail
    }
}

/// `POST /v1/events/redeliver`: takes parked events back; what is absent means all.
package struct RedeliverEventsRequest: RequestBody {
    package let sequence: Int?
    /// A webhook's name.
    package let webhook: String?

    package init(sequence: Int?, webhook: String?) {
        self.sequence = sequence
        self.webhook = webhook
    }

    package init(_ fields: JSONFields) throws(JSONFault) {
        var fields = fields
        sequence = try fields.int("sequence")
        webhook = try fields.string("webhook")
        try fields.refuseUnknown()
    }
}

/// Its answer.
package struct RedeliveredEventsDocument: Codable, Hashable, Sendable {
    /// Deliveries that are on their way again; at most 10,000 a request.
    package let redelivered: Int

    package init(redelivered: Int) { self.redelivered = redelivered }
}

package import Vocabulary

/// An event in its place in the order of all events.
package struct StoredEvent: Hashable, Sendable {
    /// Grows, with gaps, and is never given twice.
    package let sequence: Int
    /// 32 lower-case hexadecimal digits, random: identifies repeated deliveries.
    package let id: String
    package let event: Event

    package init(sequence: Int, id: String, event: Event) {
        self.sequence = sequence
        self.id = id
        self.event = event
    }
}

/// Which events are asked for. The answer is always in order of their sequence.
package struct EventQuery: Hashable, Sendable {
    package enum Part: Hashable, Sendable {
        /// The first ones after this sequence; 0 begins at the oldest.
        case after(Int)
        /// The newest ones.
        case newest
    }

    package var part: Part
    /// nil: every merchant's, and those of no merchant.
    package var merchants: Set<MerchantIdentifier>?
    package var kind: Event.Kind?
    package var severity: Event.Severity?
    package var limit: Int

    package init(
        _ part: Part, merchants: Set<MerchantIdentifier>? = nil, kind: Event.Kind? = nil,
        severity: Event.Severity? = nil, limit: Int
    ) {
        self.part = part
        self.merchants = merchants
        self.kind = kind
        self.severity = severity
        self.limit = limit
    }

    /// Whether the event is one of those asked for, wherever it stands.
    package func isAbout(_ event: Event) -> Bool {
        if let merchants {
            guard let merchant = event.merchantIdentifier, merchants.contains(merchant) else { return false }
        }
        return (kind == nil || kind == event.kind) && (severity == nil || severity == event.severity)
    }
}

package import Vocabulary

/// A stored event, with its sequence number and id.
package struct StoredEvent: Hashable, Sendable {
    /// A number that increases from event to event, with gaps. No number is used twice.
    package let sequence: Int
    /// 32 random hexadecimal digits in lower case. A receiver recognizes a repeated delivery by its id.
    package let id: String
    package let event: Event

    package init(sequence: Int, id: String, event: Event) {
        self.sequence = sequence
        self.id = id
        self.event = event
    }
}

/// A filter for events. Results are always sorted by sequence number.
package struct EventQuery: Hashable, Sendable {
    /// Which of the matching events are returned, at most ``limit``.
    package enum Selection: Hashable, Sendable {
        /// The first events after this sequence number; 0 starts at the oldest.
        case after(Int)
        /// The newest events.
        case newest
    }

    package var selection: Selection
    /// The merchants whose events match; nil for all events, also those that belong to no merchant.
    package var merchants: Set<MerchantIdentifier>?
    package var kind: Event.Kind?
    package var severity: Event.Severity?
    package var limit: Int

    package init(
        _ selection: Selection, merchants: Set<MerchantIdentifier>? = nil, kind: Event.Kind? = nil,
        severity: Event.Severity? = nil, limit: Int
    ) {
        self.selection = selection
        self.merchants = merchants
        self.kind = kind
        self.severity = severity
        self.limit = limit
    }

    /// Whether the event matches ``merchants``, ``kind`` and ``severity``. Ignores ``selection`` and ``limit``.
    package func matches(_ event: Event) -> Bool {
        if let merchants {
            guard let merchant = event.merchantIdentifier, merchants.contains(merchant) else { return false }
        }
        return (kind == nil || kind == event.kind) && (severity == nil || severity == event.severity)
    }

    /// Merges the results of this query for single merchants: sorts them by sequence number, and applies ``selection``
    /// and ``limit``.
    ///
    /// - Parameter found: the events of all these results, in any order.
    package func merge(_ found: [StoredEvent]) -> [StoredEvent] {
        let sorted = found.sorted { $0.sequence < $1.sequence }
        switch selection {
        case .after: return Array(sorted.prefix(limit))
        case .newest: return sorted.suffix(limit)
        }
    }
}

import NIOHTTP1
package import Vocabulary
package import WireAPI

/// Which events are asked for; nil asks for every one.
package struct EventFilter: Sendable {
    package var merchant: MerchantIdentifier?
    package var kind: String?
    package var severity: String?

    package init(merchant: MerchantIdentifier?, kind: String?, severity: String?) {
        self.merchant = merchant
        self.kind = kind
        self.severity = severity
    }

    fileprivate var query: [(name: String, value: String)] {
        [("merchant", merchant?.rawValue), ("kind", kind), ("severity", severity)].compactMap { name, value in
            value.map { (name, $0) }
        }
    }
}

extension AdminClient {
    /// Those after `sequence`, oldest first.
    package func events(
        _ filter: EventFilter, after sequence: Int, most: Int
    ) async throws(ClientError) -> Listing<EventDocument> {
        var (items, pages, last) = ([EventDocument](), [Answer<Page<EventDocument>>](), sequence)
        while true {
            let limit = min(Page<EventDocument>.largestLimit, most - items.count)
            let page = try await page(filter, [("after", String(last)), ("limit", String(limit))])
            items += page.document.items
            pages.append(page)
            let hasMore = page.document.nextCursor != nil
            guard hasMore, items.count < most, let next = page.document.items.last?.sequence else {
                return Listing(items: items, pages: pages.map(\.json), hasMore: hasMore)
            }
            last = next
        }
    }

    /// The last `count` of them, oldest first; at most 1000.
    package func newestEvents(
        _ filter: EventFilter, count: Int
    ) async throws(ClientError) -> Answer<Page<EventDocument>> {
        try await page(filter, [("newest", "true"), ("limit", String(count))])
    }

    /// The first ones after `sequence`; waits where there are none, and answers an empty page after `seconds` of 30 at most.
    package func events(
        _ filter: EventFilter, after sequence: Int, waiting seconds: Int
    ) async throws(ClientError) -> Answer<Page<EventDocument>> {
        try await page(
            filter,
            [
                ("after", String(sequence)), ("wait", String(seconds)),
                ("limit", String(Page<EventDocument>.largestLimit)),
            ])
    }

    /// Takes parked events back; nil means all.
    package func redeliverEvents(
        _ request: RedeliverEventsRequest
    ) async throws(ClientError) -> Answer<RedeliveredEventsDocument> {
        try await post(Paths.redeliverEvents, request)
    }

    private func page(
        _ filter: EventFilter, _ more: [(name: String, value: String)]
    ) async throws(ClientError) -> Answer<Page<EventDocument>> {
        try await connection.fetch(SocketCall(path: Paths.events, query: filter.query + more))
    }
}

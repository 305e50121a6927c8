import NIOHTTP1
package import Vocabulary
package import WireAPI

/// Selects events by the fields that are set. A field that is nil does not restrict the selection.
package struct EventFilter: Sendable {
    package var merchant: MerchantIdentifier?
    /// The kind of event, such as `keyRevoked`.
    package var kind: String?
    /// `notice`, `warning` or `critical`.
    package var severity: String?

    package init() {}

    fileprivate var parameters: [(name: String, value: String)] {
        [("merchant", merchant?.rawValue), ("kind", kind), ("severity", severity)].compactMap { name, value in
            value.map { (name, $0) }
        }
    }
}

extension AdminClient {
    /// At most `limit` events after the event with the number `sequence`, oldest first.
    package func events(
        _ filter: EventFilter, after sequence: Int, limit: Int
    ) async throws(ClientError) -> Listing<EventDocument> {
        var (items, pages, lastSequence) = ([EventDocument](), [Response<Page<EventDocument>>](), sequence)
        while true {
            let pageLimit = min(Page<EventDocument>.largestLimit, limit - items.count)
            let page = try await page(filter, [("after", String(lastSequence)), ("limit", String(pageLimit))])
            items += page.document.items
            pages.append(page)
            let hasMore = page.document.nextCursor != nil
            guard hasMore, items.count < limit, let next = page.document.items.last?.sequence else {
                return Listing(items: items, pages: pages.map(\.json), hasMore: hasMore)
            }
            lastSequence = next
        }
    }

    /// The newest `count` events, oldest first. The daemon accepts a `count` of at most 1000.
    package func newestEvents(
        _ filter: EventFilter, count: Int
    ) async throws(ClientError) -> Response<Page<EventDocument>> {
        try await page(filter, [("newest", "true"), ("limit", String(count))])
    }

    /// The first page of events after the event with the number `sequence`. If there are no such events yet, the daemon
    /// waits for an event for up to `seconds` (at most 30), and then returns an empty page.
    package func events(
        _ filter: EventFilter, after sequence: Int, waiting seconds: Int
    ) async throws(ClientError) -> Response<Page<EventDocument>> {
        try await page(
            filter,
            [
                ("after", String(sequence)), ("wait", String(seconds)),
                ("limit", String(Page<EventDocument>.largestLimit)),
            ])
    }

    /// Makes the daemon deliver parked events to their webhooks again. An event is parked after its delivery has failed
    /// for 24 hours.
    package func redeliverEvents(
        _ request: RedeliverEventsRequest
    ) async throws(ClientError) -> Response<RedeliveredEventsDocument> {
        try await post(Paths.redeliverEvents, request)
    }

    private func page(
        _ filter: EventFilter, _ otherParameters: [(name: String, value: String)]
    ) async throws(ClientError) -> Response<Page<EventDocument>> {
        try await httpClient.fetch(SocketCall(path: Paths.events, query: filter.parameters + otherParameters))
    }
}

/// One page of a list: the response of a route that lists resources.
package struct Page<Item: Codable & Sendable>: Codable, Sendable {
    /// The number of items on a page if the query does not set `limit`.
    package static var defaultLimit: Int { 100 }
    /// The largest accepted `limit`.
    package static var largestLimit: Int { 1000 }

    package let items: [Item]
    /// The value of `cursor` in the request for the next page; nil on the last page. Clients must not interpret it.
    package let nextCursor: String?

    package init(items: [Item], nextCursor: String?) {
        (self.items, self.nextCursor) = (items, nextCursor)
    }
}

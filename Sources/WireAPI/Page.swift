/// One page of an ordered list.
package struct Page<Item: Codable & Sendable>: Codable, Sendable {
    /// Items on a page unless the query sets `limit`.
    package static var defaultLimit: Int { 100 }
    package static var largestLimit: Int { 1000 }

    package let items: [Item]
    /// The `cursor` of the next page; nil on the last page. Opaque.
    package let nextCursor: String?

    package init(items: [Item], nextCursor: String?) {
        (self.items, self.nextCursor) = (items, nextCursor)
    }
}

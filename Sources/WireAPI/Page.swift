/// One page of an ordered list.
package struct Page<Item: Codable & Sendable>: Codable, Sendable {
    /// Items on a page where the query does not say otherwise (`limit`).
    package static var defaultLimit: Int { 100 }
    package static var largestLimit: Int { 1000 }

    package let items: [Item]
    /// What to pass as `cursor` for the page after this one; nil on the last page. Opaque.
    package let nextCursor: String?

    package init(items: [Item], nextCursor: String?) {
        self.items = items
        self.nextCursor = nextCursor
    }
}

package import WireAPI

extension Page {
    /// - Parameters:
    ///   - found: up to `limit` + 1 items. If the additional item is present, there is a next page, which begins with
    ///     the additional item.
    ///   - cursor: returns the cursor of the page that begins after an item.
    package init<Found>(_ found: [Found], limit: Int, document: (Found) -> Item, cursor: (Found) -> String) {
        let shown = found.prefix(limit)
        self.init(
            items: shown.map(document), nextCursor: found.count > limit ? shown.last.map(cursor) : nil)
    }
}

package import FoundationEssentials

/// A document that the daemon returned, both decoded and as JSON text.
package struct Response<Document: Decodable & Sendable>: Sendable {
    package let document: Document
    /// The JSON text as it was received, including fields that this version of the client does not know.
    package let json: Data
}

/// The items of a list that the daemon returned in one or more pages, in the daemon's order.
package struct Listing<Item: Codable & Sendable>: Sendable {
    package let items: [Item]
    /// The JSON text of each page as it was received.
    package let pages: [Data]
    /// Whether the daemon has more items than were requested.
    package let hasMore: Bool
}

package import FoundationEssentials

/// A document that the daemon returned, decoded and as it was sent.
package struct Response<Document: Decodable & Sendable>: Sendable {
    package let document: Document
    /// The JSON text, including fields that this version of the client does not know.
    package let json: Data
}

/// An ordered list, collected from its pages.
package struct Listing<Item: Codable & Sendable>: Sendable {
    package let items: [Item]
    /// The JSON text of each page.
    package let pages: [Data]
    /// Whether the daemon has more items than were requested.
    package let hasMore: Bool
}

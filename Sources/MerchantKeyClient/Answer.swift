package import FoundationEssentials

/// A document of the daemon, read and as it was written.
package struct Answer<Document: Decodable & Sendable>: Sendable {
    package let document: Document
    /// The JSON text, with every field the daemon sent, also those this program does not know.
    package let json: Data
}

/// An ordered list, gathered from its pages.
package struct Listing<Item: Codable & Sendable>: Sendable {
    package let items: [Item]
    /// The JSON text of each page.
    package let pages: [Data]
    /// Whether the daemon has more than was asked for.
    package let hasMore: Bool
}

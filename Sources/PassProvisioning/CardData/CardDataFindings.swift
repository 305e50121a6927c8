/// The error for card data that cannot be used.
public struct CardDataFindings: Error, Sendable, Hashable, CustomStringConvertible {
    /// Every finding, in a fixed order: at least one that is not a warning.
    public let all: [CardDataFinding]

    init(_ all: [CardDataFinding]) { self.all = all }

    /// The findings, separated by line feeds.
    public var description: String { all.map(\.description).joined(separator: "\n") }
}

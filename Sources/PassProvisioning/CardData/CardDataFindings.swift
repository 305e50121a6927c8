/// The error for card data that cannot be used.
public struct CardDataFindings: Error, Sendable, Hashable, CustomStringConvertible {
    /// All findings. At least one of them is not a warning.
    public let all: [CardDataFinding]

    init(_ all: [CardDataFinding]) { self.all = all }

    /// The findings, separated by line feeds.
    public var description: String { all.map(\.description).joined(separator: "\n") }
}

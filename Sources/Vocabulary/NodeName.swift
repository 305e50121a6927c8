/// The name of one of the daemons that share a PostgreSQL database, such as `host1.example.com`.
///
/// The name has 1 to 63 characters, each one of `A-Z a-z 0-9 . _ -`, and begins with a letter or digit. The name needs
/// no percent-encoding in the path of a URL.
package struct NodeName: TextValue, Comparable {
    private static let longest = 63
    package let rawValue: String

    /// - Returns: nil unless the text has the form above.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.longest, AccessName(text) != nil else { return nil }
        rawValue = String(text)
    }

    package init?(text: String) { self.init(text) }

    package var text: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The end of an error message. The caller writes the name of a field before it.
    package static func refusal(of text: String) -> String { "is not the name of a node, \(expectation)" }

    /// The part of error messages that says which text is expected.
    package static let expectation =
        "expected 1 to 63 ASCII letters, digits, '.', '_' and '-', beginning with a letter or digit"
}

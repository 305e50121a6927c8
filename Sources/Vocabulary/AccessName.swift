/// The name that an admin gives to a machine caller of the portal, such as `shop-backend`.
///
/// The name has 1 to 64 characters, each one of `A-Z a-z 0-9 . _ -`, and begins with a letter or digit. The name needs
/// no percent-encoding in the path of a URL.
package struct AccessName: TextValue, Comparable {
    package static let longest = 64
    package let rawValue: String

    /// - Returns: nil unless the text has the form above.
    package init?(_ text: some StringProtocol) {
        guard (1...Self.longest).contains(text.utf8.count), let first = text.utf8.first, Self.isLetterOrDigit(first),
            text.utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        rawValue = String(text)
    }

    package init?(text: String) { self.init(text) }

    package var text: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The end of an error message. The caller writes the name of a field before it.
    package static func refusal(of text: String) -> String { "is not the name of an access, \(expectation)" }

    /// The part of error messages that says which text is expected.
    package static let expectation =
        "expected 1 to 64 ASCII letters, digits, '.', '_' and '-', beginning with a letter or digit"

    private static func isAllowed(_ byte: UInt8) -> Bool { isLetterOrDigit(byte) || "._-".utf8.contains(byte) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// The platform's own name for a merchant. The merchant is registered with Apple under this name.
///
/// The name has 3 to 1024 characters, each one of `a-z A-Z 0-9 ~ - _ + & @ $ ! | , . ;`. In the path of a
/// URL, percent-encode the name.
///
/// Source: Apple, Web Merchant Registration API, RegisterMerchantRequest.
package struct PartnerInternalMerchantIdentifier: TextValue, Comparable {
    /// The permitted lengths in characters.
    package static let lengths = 3...1024
    package let rawValue: String

    /// - Returns: nil unless the text has the form above.
    package init?(_ text: some StringProtocol) {
        guard Self.lengths.contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        rawValue = String(text)
    }

    package init?(text: String) { self.init(text) }

    package var text: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The end of an error message. The caller writes the name of a field before it.
    package static func refusal(of text: String) -> String {
        "is '\(text.prefix(64))' of \(text.utf8.count.counted("byte")), \(expectation)"
    }

    /// The part of error messages that says which text is expected.
    package static let expectation = "expected 3 to 1024 of the characters a-z A-Z 0-9 ~ - _ + & @ $ ! | , . ;"

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "~-_+&@$!|,.;".utf8.contains(byte)
        }
    }
}

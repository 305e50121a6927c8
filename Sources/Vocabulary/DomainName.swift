/// A web domain in the form that Apple compares: a fully qualified ASCII name in lower case, without scheme, port, path
/// or final dot.
///
/// The name has at most 253 characters and at least two labels (the parts between dots). A label has 1 to 63 letters,
/// digits and hyphens, and does not begin or end with a hyphen. The last label contains a letter, so that an IP address
/// is not a domain name. ``init(anySpelling:)`` converts Unicode names.
package struct DomainName: TextValue, Comparable {
    package static let longest = 253
    package let rawValue: String

    /// - Returns: nil unless the text has the form above. Upper case is converted to lower case.
    package init?(ascii text: some StringProtocol) {
        let text = text.lowercased()
        let labels = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.longest, labels.count >= 2, labels.allSatisfy(Self.isLabel),
            let last = labels.last, last.utf8.contains(where: { $0 >= UInt8(ascii: "a") })
        else { return nil }
        rawValue = text
    }

    /// Also reads upper case and Unicode, as ``init(anySpelling:)`` does.
    package init?(text: String) { self.init(anySpelling: text) }

    package var text: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The end of an error message. The caller writes the name of a field before it.
    package static func refusal(of text: String) -> String { "has '\(text.prefix(300))', \(expectation)" }

    /// The part of error messages that says which text is expected.
    package static let expectation =
        "expected a fully qualified domain name such as shop.example.com, without scheme, port and path"

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
            && label.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            }
    }
}

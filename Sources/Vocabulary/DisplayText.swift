/// A text for people, such as a merchant's name or the reason for a revocation. The text is safe to print: no character
/// reorders the text around it or controls a terminal, and only the invisible characters named below are accepted.
///
/// The rules follow the FreeformClass of PRECIS (RFC 8264 section 4.3). The type refuses control characters, format
/// characters (bidirectional controls, zero-width spaces, the byte order mark, tags), line and paragraph separators,
/// private-use and unassigned code points, invisible fillers, and text that consists only of blanks. Unlike PRECIS, the
/// type accepts variation selectors, which names in Japanese and emoji need. It accepts the joiners U+200C and U+200D
/// between two characters that are neither ASCII nor blanks, because Persian, the scripts of India and emoji need them.
package struct DisplayText: Hashable, Sendable {
    /// The reason why a text is refused.
    package enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case length(bytes: Int, longest: Int)
        case blank
        case character(Unicode.Scalar)

        /// The end of an error message; the caller writes the name of a field before it: `'reason' is blank, expected
        /// …`. Does not quote the text.
        package var description: String {
            switch self {
            case .length(let bytes, let longest): "has \(bytes.counted("byte")), expected 1 to \(longest)"
            case .blank: "is blank, expected visible text"
            case .character(let scalar):
                "contains U+\(DisplayText.hexadecimal(scalar)), expected no control, format, private-use or unassigned characters"
            }
        }
    }

    package let rawValue: String

    /// - Parameter longest: the limit in bytes of UTF-8.
    package init(_ text: String, longest: Int) throws(Fault) {
        let bytes = text.utf8.count
        guard (1...longest).contains(bytes) else { throw .length(bytes: bytes, longest: longest) }
        if let scalar = Self.firstRefused(in: text) { throw .character(scalar) }
        guard text.unicodeScalars.contains(where: Self.isVisible) else { throw .blank }
        rawValue = text
    }

    /// - Returns: the first refused character; nil if there is none. Does not check for blank text.
    package static func firstRefused(in text: String) -> Unicode.Scalar? {
        let scalars = text.unicodeScalars
        return scalars.indices.first { !accepts(scalars, at: $0) }.map { scalars[$0] }
    }

    /// Whether the character at an index is accepted between its neighbours.
    static func accepts(_ scalars: String.UnicodeScalarView, at index: String.UnicodeScalarView.Index) -> Bool {
        let scalar = scalars[index]
        guard !scalar.isASCII else { return (0x20..<0x7F).contains(scalar.value) }
        if isJoiner(scalar) {
            let next = scalars.index(after: index)
            guard index > scalars.startIndex, next < scalars.endIndex else { return false }
            return mayStandBesideJoiner(scalars[scalars.index(before: index)]) && mayStandBesideJoiner(scalars[next])
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return scalar.properties.isVariationSelector || !scalar.properties.isDefaultIgnorableCodePoint
        }
    }

    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200C}" || scalar == "\u{200D}" }

    private static func mayStandBesideJoiner(_ neighbour: Unicode.Scalar) -> Bool {
        !neighbour.isASCII && !neighbour.properties.isWhitespace && !isJoiner(neighbour)
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        // U+2800 is the braille pattern without dots, which looks like a blank.
        !scalar.properties.isWhitespace && !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
    }

    private static func hexadecimal(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}

extension String {
    /// Replaces every character that ``DisplayText`` refuses by `?`, so that the text cannot control a terminal.
    ///
    /// - Parameter keepingLines: whether line feeds are kept.
    package func printable(keepingLines: Bool) -> String {
        let scalars = unicodeScalars
        guard scalars.indices.contains(where: { !DisplayText.accepts(scalars, at: $0) }) else { return self }
        var result = String.UnicodeScalarView()
        for index in scalars.indices {
            let isKept = DisplayText.accepts(scalars, at: index) || keepingLines && scalars[index] == "\n"
            result.append(isKept ? scalars[index] : "?")
        }
        return String(result)
    }
}

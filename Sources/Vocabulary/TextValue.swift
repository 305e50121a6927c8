/// A value that is written as one text in JSON documents, in paths and on the command line.
package protocol TextValue: Hashable, Sendable, Codable, CustomStringConvertible {
    /// - Returns: nil if the text is not a valid value.
    init?(text: String)

    /// The text that the daemon writes. ``init(text:)`` may accept other texts for the same value.
    var text: String { get }

    /// Why a text is not a valid value. This is the end of an error message; the caller writes the name of a field
    /// before it: `'at' is not a time, expected …`.
    static func refusal(of text: String) -> String
}

extension TextValue {
    package var description: String { text }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Self(text: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.refusal(of: text))
        }
        self = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// A value from a fixed set of names, such as a key's state. JSON, SQL and the command line use the raw value.
package protocol NamedValue: TextValue, RawRepresentable, CaseIterable, CodingKeyRepresentable
where RawValue == String {}

extension NamedValue {
    package init?(text: String) { self.init(rawValue: text) }

    package var text: String { rawValue }

    package static func refusal(of text: String) -> String {
        let names = allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return "is '\(text.prefix(64))', expected one of \(names)"
    }

    // `TextValue` and `RawRepresentable` both have default implementations of Codable. Without these two methods the
    // compiler could not choose.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let value = Self(rawValue: text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.refusal(of: text))
        }
        self = value
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue)
    }
}

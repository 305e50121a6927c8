/// A value that JSON documents, paths and the command line write as one text.
package protocol TextValue: Hashable, Sendable, Codable, CustomStringConvertible {
    /// - Returns: nil if the text is not a valid value.
    init?(text: String)

    /// The spelling that the daemon writes.
    var text: String { get }

    /// The reason why a text is refused. It follows the name of a field: `is not a time, expected …`.
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

/// A closed set of names. JSON, SQL and the command line use the raw value.
package protocol NamedValue: TextValue, RawRepresentable, CaseIterable, CodingKeyRepresentable
where RawValue == String {}

extension NamedValue {
    package init?(text: String) { self.init(rawValue: text) }

    package var text: String { rawValue }

    package static func refusal(of text: String) -> String {
        let names = allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return "is '\(text.prefix(64))', expected one of \(names)"
    }

    // Both protocols have a default. This one names the allowed values.
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

/// A value that a JSON document, a path or the command line spells as one text.
package protocol TextValue: Hashable, Sendable, Codable, CustomStringConvertible {
    /// - Returns: nil for a text that is no such value.
    init?(text: String)

    /// The one spelling that is written.
    var text: String { get }

    /// Why a text is refused, to be read after the name of its field: `is not a time, expected …`.
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

/// A closed set of names: the raw value is what JSON, SQL and the command line spell.
package protocol NamedValue: TextValue, RawRepresentable, CaseIterable, CodingKeyRepresentable
where RawValue == String {}

extension NamedValue {
    package init?(text: String) { self.init(rawValue: text) }

    package var text: String { rawValue }

    package static func refusal(of text: String) -> String {
        let names = allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
        return "is '\(text.prefix(64))', expected one of \(names)"
    }

    // Both protocols have a default; this one names the values that are allowed.
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
